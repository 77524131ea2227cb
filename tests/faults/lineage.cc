// SPDX-License-Identifier: Apache-2.0
// Sorts records by generation and step.
#include "tests/faults/lineage.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace trireme::tests {
namespace {

using observe::Record;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void take_coordinator(const ProcessLog& log, Lineage& all) {
  for (const Record& record : log.records) {
    if (record.type == "generation") {
      GenerationFacts& facts = all.generations[record.integer("generation")];
      facts.file = log.file;
      facts.time = record.time;
      facts.members = words_of(record.text("members"));
    } else if (record.type == "commit") {
      all.commits.push_back({.file = log.file,
                             .generation = record.integer("generation"),
                             .step = record.integer("step"),
                             .directory = record.text("directory")});
    }
  }
}

bool flag(const Record& record, std::string_view field) {
  const observe::Value* const value = record.find(field);
  return value != nullptr && std::get_if<bool>(value) != nullptr && std::get<bool>(*value);
}

void take_node(const ProcessLog& log, Lineage& all) {
  bool is_between = false;  // a generation that broke and the next
  std::int64_t settled = 0;
  for (const Record& record : log.records) {
    if (record.type == "broken") is_between = true;
    if (record.type == "used" && is_between) ++settled;
    if (record.type == "joined") {
      std::int64_t& most = all.generations[record.integer("generation")].settled;
      most = std::max(most, std::exchange(settled, 0));
      is_between = false;
      all.generations[record.integer("generation")].joined.push_back({.log = &log,
                                                                      .step = record.integer("step"),
                                                                      .at = {record.integer("epoch"), record.integer("offset")},
                                                                      .samples = record.integer("samples"),
                                                                      .weights = record.text("weights"),
                                                                      .by_lease = flag(record, "by_lease"),
                                                                      .resumed = flag(record, "resumed")});
    } else if (record.type == "used") {
      all.generations[record.integer("generation")].used.push_back(
          {.log = &log, .epoch = record.integer("epoch"), .begin = record.integer("begin"), .end = record.integer("end")});
    } else if (record.type == "stepped") {
      all.generations[record.integer("generation")].steps[record.integer("step")].push_back(
          {.log = &log,
           .time = record.time,
           .at = {record.integer("epoch"), record.integer("offset")},
           .whole = record.integer("whole"),
           .begin = record.integer("begin"),
           .end = record.integer("end"),
           .weights = record.text("weights")});
    }
  }
}

// Steps of a generation as they follow each other, from where it joined.
void append_steps(const GenerationFacts& generation, std::vector<Counted>& steps) {
  for (const auto& [number, done] : generation.steps) steps.push_back({.generation = &generation, .step = number, .done = &done});
}

// The last step of all may have been broken off by the end of the training: then it was done by some and is in no checkpoint.
void drop_broken_end(const Lineage& all, Line& line) {
  if (line.steps.empty()) return;
  const Counted& last = line.steps.back();
  if (last.generation != all.lived().back()) return;  // a later generation began behind it
  const bool is_committed = std::ranges::any_of(all.commits, [&](const Commit& commit) { return commit.step >= last.step; });
  if (!is_committed && last.done->size() < last.generation->members.size()) line.steps.pop_back();
}

}  // namespace

bool GenerationFacts::has_member(const std::string& node) const { return std::ranges::find(members, node) != members.end(); }

std::int64_t GenerationFacts::reached_by(const ProcessLog& log) const {
  std::int64_t newest = -1;
  for (const Joined& join : joined)
    if (join.log == &log) newest = std::max(newest, join.step);
  for (const auto& [step, done] : steps)
    if (std::ranges::any_of(done, [&](const Stepped& each) { return each.log == &log; })) newest = std::max(newest, step);
  return newest;
}

std::int64_t GenerationFacts::reached() const {
  std::int64_t newest = steps.empty() ? -1 : steps.rbegin()->first;
  for (const Joined& join : joined) newest = std::max(newest, join.step);
  return newest;
}

std::vector<const GenerationFacts*> Lineage::lived() const {
  std::vector<const GenerationFacts*> found;
  for (const auto& [number, facts] : generations)
    if (!facts.joined.empty()) found.push_back(&facts);
  return found;
}

std::int64_t Lineage::committed_before(std::int64_t generation) const {
  std::int64_t newest = -1;
  for (const Commit& commit : commits)
    if (commit.generation < generation) newest = std::max(newest, commit.step);
  return newest;
}

Lineage lineage(const History& history) {
  Lineage all;
  for (const ProcessLog& log : history.coordinators) take_coordinator(log, all);
  for (const ProcessLog& log : history.nodes) take_node(log, all);
  for (auto& [number, facts] : all.generations) facts.number = number;
  return all;
}

Position normalized(Position position, std::int64_t samples) {
  if (samples > 0 && position.offset == samples) return {.epoch = position.epoch + 1, .offset = 0};
  return position;
}

Line line_of(const Lineage& all) {
  Line line;
  bool is_first = true;
  for (const GenerationFacts* generation : all.lived()) {
    const Joined& join = generation->joined.front();
    if (is_first || join.step < line.begin.step) line.begin = join;
    is_first = false;
    line.has_leases |= generation->by_lease();
    while (!line.steps.empty() && line.steps.back().step > join.step) line.steps.pop_back();
    append_steps(*generation, line.steps);
  }
  drop_broken_end(all, line);
  return line;
}

}  // namespace trireme::tests
