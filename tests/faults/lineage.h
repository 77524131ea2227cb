// SPDX-License-Identifier: Apache-2.0
// Event journals ordered by generations, and the one line of steps that a training's model is made of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/faults/history.h"

namespace trireme::tests {

// A place in the samples of a training: the end of an epoch is the beginning of the next.
struct Position {
  std::int64_t epoch = 0;
  std::int64_t offset = 0;

  bool operator==(const Position&) const = default;
};

struct Joined {
  const ProcessLog* log = nullptr;
  std::int64_t step = 0;
  Position at;
  std::int64_t samples = 0;
  std::string weights;
  bool by_lease = false;  // servers hold the parameters, and workers take samples as they come to them
  bool resumed = false;   // by lease: servers and what they hold are those of the generation before
};

// Samples of an epoch, by the journal of the node that hands them out.
struct Used {
  const ProcessLog* log = nullptr;
  std::int64_t epoch = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct Stepped {
  const ProcessLog* log = nullptr;
  double time = 0;
  Position at;
  std::int64_t whole = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string weights;
};

struct GenerationFacts {
  std::int64_t number = 0;
  std::string file;                  // of the coordinator that announced it; empty: none did
  double time = 0;                   // of the announcement
  std::vector<std::string> members;  // in order of ranks
  std::vector<Joined> joined;
  std::map<std::int64_t, std::vector<Stepped>> steps;
  std::vector<Used> used;
  // Of the generation before, found out as this one met: pushes that all servers had and whose worker died before it could say so. They
  // are not in the step that members join at.
  std::int64_t settled = 0;

  bool by_lease() const { return !joined.empty() && joined.front().by_lease; }
  bool has_member(const std::string& node) const;
  // The newest step that `log` has done or begun from in this generation; -1: it did not join.
  std::int64_t reached_by(const ProcessLog& log) const;
  std::int64_t reached() const;  // by any member
};

struct Commit {
  std::string file;
  std::int64_t generation = 0;
  std::int64_t step = 0;
  std::string directory;
};

struct Lineage {
  std::map<std::int64_t, GenerationFacts> generations;
  std::vector<Commit> commits;  // in the order they were made, over all coordinators

  // Generations that at least one node has joined, in order.
  std::vector<const GenerationFacts*> lived() const;
  // Step of the newest commit of a generation before this one; -1: none.
  std::int64_t committed_before(std::int64_t generation) const;
};

Lineage lineage(const History& history);

Position normalized(Position position, std::int64_t samples);

// A step that counts: no generation went back behind it.
struct Counted {
  const GenerationFacts* generation = nullptr;
  std::int64_t step = 0;
  const std::vector<Stepped>* done = nullptr;
};

// What a training's last state is made of: when a generation begins at step s, what others did after s counts no longer.
// `begin` is where the first generation joined.
struct Line {
  Joined begin;
  bool has_leases = false;  // then steps are only a part of it
  std::vector<Counted> steps;
};
Line line_of(const Lineage& all);

}  // namespace trireme::tests
