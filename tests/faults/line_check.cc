// SPDX-License-Identifier: Apache-2.0
// I3 and I4: every sample exactly once an epoch among the steps that count, and the same weights everywhere.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/faults/checks.h"

namespace trireme::tests {
namespace {

std::string at(const Counted& counted) { return fmt::format("generation {}, step {}", counted.generation->number, counted.step); }

// Members of whom there is no record of this step, though they had done the one before: they died after they gave their part and before
// they could write it down. What the others have is then the proof that the step was done.
int silent_members(const Counted& counted) {
  int count = 0;
  for (const std::string& node : counted.generation->members) {
    const bool has_written = std::ranges::any_of(*counted.done, [&](const Stepped& step) { return step.log->node == node; });
    if (has_written) continue;
    const bool was_there = std::ranges::any_of(counted.generation->joined, [&](const Joined& join) {
      return join.log->node == node && counted.generation->reached_by(*join.log) == counted.step - 1;
    });
    count += was_there ? 1 : 0;
  }
  return count;
}

// Neighbouring parts may have been those of several silent members: holes are at most as many as they.
void check_parts(const Counted& counted, Violations& found) {
  std::vector<Stepped> parts = *counted.done;
  std::ranges::sort(parts, [](const Stepped& a, const Stepped& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  int holes = 0;
  std::int64_t covered = 0;
  for (const Stepped& part : parts) {
    if (part.begin < covered && part.begin < part.end)
      found.push_back({"I3", part.log->file,
                       fmt::format("samples {} to {} of the batch were computed twice", part.begin, std::min(covered, part.end)),
                       at(counted)});
    holes += part.begin > covered ? 1 : 0;
    covered = std::max(covered, part.end);
  }
  const std::int64_t whole = parts.front().whole;
  holes += covered < whole ? 1 : 0;
  if (covered > whole)
    found.push_back({"I3", parts.back().log->file, fmt::format("a part ends at {} of {} samples", covered, whole), at(counted)});
  const int silent = silent_members(counted);
  if (holes > silent)
    found.push_back({"I3", parts.front().log->file,
                     fmt::format("samples of the batch were computed by no node: {} holes, {} members that may have died", holes, silent),
                     at(counted)});
}

void check_agreement(const Counted& counted, Violations& found) {
  const Stepped& first = counted.done->front();
  std::set<std::string> nodes;
  for (const Stepped& step : *counted.done) {
    if (step.at != first.at || step.whole != first.whole)
      found.push_back({"I3", step.log->file, fmt::format("another batch than {} has", first.log->file), at(counted)});
    if (!nodes.insert(step.log->node).second)
      found.push_back({"I3", step.log->file, "two processes of this node have done the step", at(counted)});
  }
}

}  // namespace

void check_coverage(const Line& line, Violations& found) {
  std::int64_t step = line.begin.step;
  Position position = normalized(line.begin.at, line.begin.samples);
  for (const Counted& counted : line.steps) {
    const std::string& file = counted.done->front().log->file;
    if (const Joined& join = counted.generation->joined.front(); line.has_leases && counted.step == join.step + 1) {
      step = join.step;  // what was before is for check_leases
      position = normalized(join.at, join.samples);
    }
    if (counted.step != step + 1)
      found.push_back({"I3", file, fmt::format("no node has done the steps between {} and this", step), at(counted)});
    const Stepped& done = counted.done->front();
    if (counted.step == step + 1 && normalized(done.at, line.begin.samples) != position)
      found.push_back({"I3", file,
                       fmt::format("it begins at sample {} of epoch {} instead of {} of {}", done.at.offset, done.at.epoch, position.offset,
                                   position.epoch),
                       at(counted)});
    check_agreement(counted, found);
    check_parts(counted, found);
    step = counted.step;
    position = normalized({.epoch = done.at.epoch, .offset = done.at.offset + done.whole}, line.begin.samples);
  }
}

void check_weights(const Lineage& all, const Line& line, Violations& found) {
  const auto compare = [&](const std::string& expected, const std::string& got, const ProcessLog& log, const std::string& where) {
    if (expected != got) found.push_back({"I4", log.file, fmt::format("weights {} instead of {}", got, expected), where});
  };
  for (const auto& [number, generation] : all.generations) {
    for (const Joined& join : generation.joined) {
      const std::string where = fmt::format("generation {}, joined at step {}", number, join.step);
      const Joined& first = generation.joined.front();
      if (join.step != first.step || join.at != first.at)
        found.push_back({"I4", join.log->file, fmt::format("it joined at another place than {}", first.log->file), where});
      if (join.resumed) continue;  // each has what servers lent it last
      compare(first.weights, join.weights, *join.log, where);
    }
    for (const auto& [step, done] : generation.steps)
      for (const Stepped& each : done)
        compare(done.front().weights, each.weights, *each.log, fmt::format("generation {}, step {}", number, step));
  }
  // What a generation begins with is what the steps before it have made.
  for (const GenerationFacts* generation : all.lived()) {
    const Joined& join = generation->joined.front();
    for (const Counted& counted : line.steps)
      if (counted.step == join.step && counted.generation->number < generation->number)
        compare(counted.done->front().weights, join.weights, *join.log,
                fmt::format("generation {} begins at step {}", generation->number, join.step));
  }
}

}  // namespace trireme::tests
