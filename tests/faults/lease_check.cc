// SPDX-License-Identifier: Apache-2.0
// I3 where servers hold the parameters: every sample once an epoch, whichever worker took it, every push once at every server, and out of
// step the gradient of every sample once in every piece, whichever node died.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/faults/checks.h"

namespace trireme::tests {
namespace {

using observe::Record;

// Samples of one epoch as runs that do not touch: beginning to end.
class Samples {
 public:
  // False if some of them are here already.
  bool add(std::int64_t begin, std::int64_t end) {
    const auto after = runs_.lower_bound(begin);
    const bool is_new = (after == runs_.end() || after->first >= end) && (after == runs_.begin() || std::prev(after)->second <= begin);
    std::int64_t& own_end = runs_[begin];
    own_end = std::max(own_end, end);
    merge();
    return is_new;
  }
  void cut_at(std::int64_t offset) {
    runs_.erase(runs_.lower_bound(offset), runs_.end());
    if (!runs_.empty()) runs_.rbegin()->second = std::min(runs_.rbegin()->second, offset);
  }
  bool is_prefix(std::int64_t size) const {
    return size == 0 ? runs_.empty() : runs_.size() == 1 && runs_.begin()->first == 0 && runs_.begin()->second == size;
  }
  std::string in_words() const {
    std::string words;
    for (const auto& [begin, end] : runs_) words += fmt::format("{}[{}, {})", words.empty() ? "" : " ", begin, end);
    return words.empty() ? "none" : words;
  }

 private:
  void merge() {
    for (auto run = runs_.begin(); run != runs_.end() && std::next(run) != runs_.end();) {
      const auto next = std::next(run);
      if (next->first > run->second) {
        ++run;
        continue;
      }
      run->second = std::max(run->second, next->second);
      runs_.erase(next);
    }
  }
  std::map<std::int64_t, std::int64_t> runs_;
};

// What the model is made of, generation after generation.
class Coverage {
 public:
  explicit Coverage(Violations& found) : found_(found) {}

  // A generation begins from a state in which all samples before `join` are used, and none after.
  void begin_at(const Joined& join, const std::string& where) {
    const Position at = normalized(join.at, join.samples);
    if (!has_begun_) epochs_[at.epoch].add(0, at.offset);
    has_begun_ = true;
    epochs_.erase(epochs_.upper_bound(at.epoch), epochs_.end());
    epochs_[at.epoch].cut_at(at.offset);
    if (at.offset == 0) epochs_[at.epoch] = {};
    if (!epochs_[at.epoch].is_prefix(at.offset))
      found_.push_back(
          {"I3", join.log->file,
           fmt::format("it begins after {} samples of epoch {}, of which were used: {}", at.offset, at.epoch, epochs_[at.epoch].in_words()),
           where});
    check_before(at.epoch, join, where);
  }
  void use(const Used& used, const Joined& join, const std::string& where) {
    check_before(used.epoch, join, where);
    if (!epochs_[used.epoch].add(used.begin, used.end))
      found_.push_back(
          {"I3", used.log->file, fmt::format("samples {} to {} of epoch {} are used twice", used.begin, used.end, used.epoch), where});
  }
  void end(const Joined& join) {
    if (!epochs_.empty()) check_before(epochs_.rbegin()->first + (epochs_.rbegin()->second.is_prefix(0) ? 0 : 1), join, "the end");
  }

 private:
  // Epochs are complete before another begins; each is looked at once.
  void check_before(std::int64_t epoch, const Joined& join, const std::string& where) {
    for (auto& [number, samples] : epochs_) {
      if (number >= epoch || samples.is_prefix(join.samples) || !told_.insert(number).second) continue;
      found_.push_back({"I3", join.log->file,
                        fmt::format("epoch {} is over, and of its {} samples were used: {}", number, join.samples, samples.in_words()),
                        where});
    }
  }

  Violations& found_;
  bool has_begun_ = false;
  std::map<std::int64_t, Samples> epochs_;
  std::set<std::int64_t> told_;
};

// Pushes as one process wrote them down, while servers held the same parameters.
using Push = std::pair<std::string, std::int64_t>;    // whose, and its id
using First = std::pair<std::int64_t, std::int64_t>;  // stretch, and the first lease of some samples in it
struct Pushes {
  std::map<Push, int> applied;  // how often; dropped ones count
  std::vector<std::int64_t> acknowledged;
  std::int64_t pieces = 0;                  // of this server
  std::map<First, std::int64_t> in_pieces;  // samples, once for each piece that has them
  std::map<First, std::int64_t> of_a_push;  // most samples of one push: all of that lease
  std::map<First, std::int64_t> used;       // samples, by the lead
};

// Lease 0: of a round, or written before there were leases in journals.
First first_of(const Record& record) {
  return record.find("lease") == nullptr ? First{} : First{record.integer("stretch"), record.integer("lease")};
}

void take_applied(const Record& record, Pushes& pushes) {
  ++pushes.applied[{record.text("worker"), record.integer("id")}];
  const First first = first_of(record);
  if (first.second == 0) return;  // summed with others' to a round
  const std::int64_t samples = record.integer("samples");
  pushes.pieces = record.integer("all");
  pushes.in_pieces[first] += samples * record.integer("pieces");
  pushes.of_a_push[first] = std::max(pushes.of_a_push[first], samples);
}

std::int64_t samples_of(const Record& used) { return used.integer("end") - used.integer("begin"); }

// By the generation that handed the parameters out, then by journal.
std::map<std::int64_t, std::map<const ProcessLog*, Pushes>> pushes_of(const History& history, const Lineage& all) {
  std::map<std::int64_t, std::int64_t> origin;  // of each generation
  std::int64_t newest = 0;
  for (const GenerationFacts* generation : all.lived())
    origin[generation->number] = newest = generation->joined.front().resumed ? newest : generation->number;
  std::map<std::int64_t, std::map<const ProcessLog*, Pushes>> found;
  for (const ProcessLog& log : history.nodes) {
    std::int64_t own = 0;
    for (const Record& record : log.records) {
      if (record.type == "joined") own = origin[record.integer("generation")];
      if (record.type == "applied") take_applied(record, found[own][&log]);
      if (record.type == "used") found[own][&log].used[first_of(record)] += samples_of(record);
      if (record.type == "acknowledged") found[own][&log].acknowledged.push_back(record.integer("id"));
    }
  }
  return found;
}

using Logs = std::map<const ProcessLog*, Pushes>;

// What a lost worker had begun and another finished: its samples are in every piece once when they count as used, and never twice.
void check_pieces(const Logs& logs, const std::string& where, Violations& found) {
  std::map<First, std::int64_t> used;
  std::map<First, std::int64_t> whole;  // all samples that began with this lease
  for (const auto& [log, pushes] : logs) {
    for (const auto& [first, samples] : pushes.used) used[first] += samples;
    for (const auto& [first, samples] : pushes.of_a_push) whole[first] = std::max(whole[first], samples);
  }
  for (const auto& [first, samples] : used) whole[first] = std::max(whole[first], samples);
  for (const auto& [server, pushes] : logs) {
    if (pushes.pieces == 0) continue;
    for (const auto& [first, samples] : whole) {
      const auto there = pushes.in_pieces.find(first);
      const std::int64_t here = there == pushes.in_pieces.end() ? 0 : there->second;
      const std::int64_t all = samples * pushes.pieces;
      const bool is_used = first.second != 0 && used.contains(first) && used.at(first) == samples;
      if (here <= all && (!is_used || here == all)) continue;
      found.push_back({"I3", server->file,
                       fmt::format("the {} samples of lease {} were applied {} times to its {} pieces, not {} times", samples, first.second,
                                   here, pushes.pieces, all),
                       fmt::format("{}, stretch {}", where, first.first)});
    }
  }
}

}  // namespace

void check_leases(const Lineage& all, bool is_finished, Violations& found) {
  Coverage coverage(found);
  const Joined* last = nullptr;
  const auto generations = all.lived();
  if (std::ranges::none_of(generations, &GenerationFacts::by_lease)) return;
  for (const GenerationFacts* generation : generations) {
    const std::string where = fmt::format("generation {}", generation->number);
    last = &generation->joined.front();
    if (!last->resumed) coverage.begin_at(*last, where);
    for (const Used& used : generation->used) coverage.use(used, *last, where);
    // A node that is left alone needs no servers.
    for (const auto& [step, done] : generation->steps)
      coverage.use({done.front().log, done.front().at.epoch, done.front().at.offset, done.front().at.offset + done.front().whole}, *last,
                   where);
  }
  if (last != nullptr && is_finished) coverage.end(*last);
}

void check_pushes(const History& history, const Lineage& all, Violations& found) {
  for (const auto& [origin, logs] : pushes_of(history, all)) {
    const std::string where = fmt::format("parameters of generation {}", origin);
    for (const auto& [server, pushes] : logs) {
      for (const auto& [push, times] : pushes.applied)
        if (times > 1)
          found.push_back(
              {"I3", server->file, fmt::format("push {} of node {} was applied {} times", push.second, push.first, times), where});
    }
    check_pieces(logs, where, found);
    for (const auto& [worker, pushes] : logs) {
      for (const std::int64_t id : pushes.acknowledged) {
        for (const auto& [server, theirs] : logs)
          if (!theirs.applied.empty() && !theirs.applied.contains({worker->node, id}))
            found.push_back({"I3", worker->file, fmt::format("push {} was acknowledged and never applied by {}", id, server->file), where});
      }
    }
  }
}

}  // namespace trireme::tests
