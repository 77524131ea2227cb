// SPDX-License-Identifier: Apache-2.0
// Runs all proofs; those of commits, fences, redone work and of what the harness saw are here.
#include "tests/faults/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "tests/faults/checks.h"

namespace trireme::tests {
namespace {

using observe::Record;

constexpr double kMoreMemory = 1.2;
// Allocators keep a little of what they were given back; this much more is no leak.
constexpr std::int64_t kMemorySlack = 24 << 20;

std::string at(std::int64_t generation, std::int64_t step) { return fmt::format("generation {}, step {}", generation, step); }

// A commit may only be of the generation that holds, by the coordinator's own journal.
void check_commit_fences(const ProcessLog& log, Violations& found) {
  std::int64_t newest = 0;
  for (const Record& record : log.records) {
    if (record.type == "generation") newest = record.integer("generation");
    if (record.type == "commit" && record.integer("generation") != newest)
      found.push_back({"I2", log.file, fmt::format("a commit after generation {} was announced", newest),
                       at(record.integer("generation"), record.integer("step"))});
  }
}

void check_announcements(const History& history, Violations& found) {
  std::int64_t newest = 0;
  for (const ProcessLog& log : history.coordinators) {
    for (const Record& record : log.records) {
      if (record.type != "generation") continue;
      const std::int64_t number = record.integer("generation");
      if (number <= newest)
        found.push_back({"I2", log.file, fmt::format("generation {} is announced after generation {}", number, newest), "coordinator"});
      newest = std::max(newest, number);
    }
  }
}

// Once a process has joined a generation it does nothing for older ones.
void check_order(const ProcessLog& log, Violations& found) {
  std::int64_t newest = 0;
  for (const Record& record : log.records) {
    if (record.type != "joined" && record.type != "stepped" && record.type != "handed") continue;
    const std::int64_t generation = record.integer("generation");
    if (generation < newest)
      found.push_back({"I2", log.file, fmt::format("'{}' after this process had joined generation {}", record.type, newest),
                       at(generation, record.integer("step"))});
    newest = std::max(newest, generation);
  }
}

void check_membership(const GenerationFacts& generation, Violations& found) {
  if (generation.file.empty()) {
    const ProcessLog* log = !generation.joined.empty() ? generation.joined.front().log : generation.steps.begin()->second.front().log;
    found.push_back({"I2", log->file, "a generation that no coordinator announced", fmt::format("generation {}", generation.number)});
    return;
  }
  std::set<const ProcessLog*> strangers;
  for (const Joined& join : generation.joined)
    if (!generation.has_member(join.log->node)) strangers.insert(join.log);
  for (const auto& [number, done] : generation.steps)
    for (const Stepped& step : done)
      if (!generation.has_member(step.log->node)) strangers.insert(step.log);
  for (const ProcessLog* log : strangers)
    found.push_back({"I2", log->file, "it took part and is no member", fmt::format("generation {}", generation.number)});
}

// A node that was declared lost may not know it yet (it was stopped, or cut off): it may end the step it was in, whose data it had
// already got. More would mean that a node still worked with it.
void check_lost_node(const ProcessLog& node, const std::string& name, double since, std::int64_t generation, Violations& found) {
  if (node.node != name) return;
  const Record* late = nullptr;
  int count = 0;
  for (const Record& record : node.records) {
    if (record.type != "stepped" || record.time <= since || record.integer("generation") > generation) continue;
    late = &record;
    ++count;
  }
  if (count > 1)
    found.push_back({"I2", node.file, fmt::format("{} steps after it was declared lost; one, the one it was in, may be", count),
                     at(late->integer("generation"), late->integer("step"))});
}

// It counts from the moment at which others go on without it: if all are cut off from the coordinator, they may go on together.
void check_lost(const History& history, Violations& found) {
  for (const ProcessLog& log : history.coordinators) {
    std::int64_t newest = 0;
    std::vector<std::string> lost;
    for (const Record& record : log.records) {
      if (record.type == "lost") lost.push_back(record.text("node"));
      if (record.type != "generation") continue;
      for (const std::string& name : std::exchange(lost, {}))
        for (const ProcessLog& node : history.nodes) check_lost_node(node, name, record.time, newest, found);
      newest = record.integer("generation");
    }
  }
}

bool has_commit(const Lineage& all, std::int64_t generation, std::int64_t step) {
  return std::ranges::any_of(all.commits, [&](const Commit& c) { return c.generation == generation && c.step == step; });
}

bool was_done(const GenerationFacts& generation, std::int64_t step) {
  if (generation.by_lease()) {  // an update has one part or more
    const std::int64_t begin = generation.joined.front().step;
    return step >= begin && step <= begin + generation.settled + static_cast<std::int64_t>(generation.used.size());
  }
  return generation.steps.contains(step) || std::ranges::any_of(generation.joined, [&](const Joined& j) { return j.step == step; });
}

}  // namespace

std::string Violation::in_words() const { return fmt::format("{} {}: {} ({})", invariant, file, what, where); }

void check_commits(const History& history, const Lineage& all, Violations& found) {
  std::int64_t newest = -1;
  for (const Commit& commit : all.commits) {
    if (commit.step < newest)
      found.push_back({"I1", commit.file, fmt::format("a commit behind step {}, which was committed before", newest),
                       at(commit.generation, commit.step)});
    newest = std::max(newest, commit.step);
    const auto generation = all.generations.find(commit.generation);
    if (generation != all.generations.end() && !was_done(generation->second, commit.step))
      found.push_back({"I1", commit.file, "a commit of a step that no node has done", at(commit.generation, commit.step)});
  }
  for (const ProcessLog& log : history.nodes)
    for (const Record& record : log.records)
      if (record.type == "handed" && !has_commit(all, record.integer("generation"), record.integer("step")))
        found.push_back({"I1", log.file, "a checkpoint was acknowledged and is in no coordinator's journal",
                         at(record.integer("generation"), record.integer("step"))});
  for (const GenerationFacts* generation : all.lived()) {
    const std::int64_t committed = all.committed_before(generation->number);
    if (generation->joined.front().step < committed)
      found.push_back({"I1", generation->joined.front().log->file, fmt::format("it begins behind step {}, which was committed", committed),
                       at(generation->number, generation->joined.front().step)});
  }
}

void check_fences(const History& history, const Lineage& all, bool clocks_differ, Violations& found) {
  check_announcements(history, found);
  for (const ProcessLog& log : history.coordinators) check_commit_fences(log, found);
  for (const ProcessLog& log : history.nodes) check_order(log, found);
  for (const auto& [number, generation] : all.generations) check_membership(generation, found);
  if (!clocks_differ) check_lost(history, found);
}

void check_redone(const Lineage& all, Violations& found) {
  const GenerationFacts* before = nullptr;
  for (const GenerationFacts* generation : all.lived()) {
    if (const GenerationFacts* old = std::exchange(before, generation); old != nullptr && !generation->by_lease()) {
      std::int64_t best = -1;  // of those who were in both
      for (const Joined& join : generation->joined) best = std::max(best, old->reached_by(*join.log));
      const Joined& join = generation->joined.front();
      if (best >= 0 && join.step < best)
        found.push_back({"I5", join.log->file, fmt::format("a member had reached step {} in generation {}", best, old->number),
                         at(generation->number, join.step)});
      else if (best >= 0 && join.step < old->reached() - 1)
        found.push_back({"I5", join.log->file,
                         fmt::format("{} steps are done again, though there was a survivor", old->reached() - join.step),
                         at(generation->number, join.step)});
    }
  }
}

void check_observed(const Observed& observed, Violations& found) {
  for (const std::string& thing : observed.left_behind) found.push_back({"I6", "harness", "left behind: " + thing, "after the end"});
  if (!observed.hang.empty()) found.push_back({"I8", "harness", observed.hang, "wall clock"});
  const auto allowed = static_cast<std::int64_t>(kMoreMemory * static_cast<double>(observed.control_memory)) + kMemorySlack;
  if (observed.control_memory > 0 && observed.peak_memory > allowed)
    found.push_back(
        {"I9", "harness",
         fmt::format("{} MB at most, {} MB undisturbed; {}", observed.peak_memory >> 20, observed.control_memory >> 20, observed.largest),
         "memory"});
  if (!observed.exit_code) return;
  if (*observed.exit_code != observed.expected_exit)
    found.push_back(
        {"I7", "harness", fmt::format("exit code {} instead of {}", *observed.exit_code, observed.expected_exit), "trireme train"});
  if (observed.guilty.empty()) return;
  std::string line;
  std::istringstream text(observed.text);
  for (std::string each; std::getline(text, each);)
    if (each.find("error:") != std::string::npos) line = each;
  for (const std::string& word : observed.guilty)
    if (line.find(word) == std::string::npos)
      found.push_back({"I7", "harness", fmt::format("no '{}' in the line '{}'", word, line), "trireme train"});
  for (const std::string& word : observed.innocent)
    if (line.find(word) != std::string::npos)
      found.push_back({"I7", "harness", fmt::format("'{}' is blamed in '{}'", word, line), "trireme train"});
}

std::vector<Violation> check(const History& history, const Observed& observed) {
  Violations found;
  const Lineage all = lineage(history);
  const Line line = line_of(all);
  check_commits(history, all, found);
  if (!observed.run.empty()) check_checkpoints(all, observed.run, found);
  check_fences(history, all, observed.clocks_differ, found);
  check_coverage(line, found);
  check_leases(all, observed.exit_code == 0, found);
  check_pushes(history, all, found);
  check_weights(all, line, found);
  check_redone(all, found);
  check_observed(observed, found);
  return found;
}

}  // namespace trireme::tests
