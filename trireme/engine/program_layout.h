// SPDX-License-Identifier: Apache-2.0
// Where the buffers of a program go: which live when, and which need room only for the parts in work.
#pragma once

#include <cstddef>
#include <vector>

#include "trireme/engine/program.h"

namespace trireme::engine {

// Steps that run together: one whole step, or neighbours by part.
struct Segment {
  std::size_t first = 0;
  std::size_t last = 0;
};

struct ProgramLayout {
  std::vector<Segment> segments;         // by step
  std::vector<Addresses::Place> places;  // strides only; the data is at the offset
  std::vector<std::size_t> offsets;      // of each buffer in the arena
  std::size_t bytes = 0;

  Addresses addresses(std::byte* arena) const;
};

// Puts the early steps among the others. A batch buffer that lives within one segment by part is given room for one part a lane:
// it never leaves the cache.
ProgramLayout lay_out(Program& program);

}  // namespace trireme::engine
