// SPDX-License-Identifier: Apache-2.0
// Segments, buffers that need room for the parts in work only, and lives that reach over whole segments.
#include "trireme/engine/program_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trireme::engine {
namespace {

Step whole(std::vector<BufferId> uses) {
  return {.uses = std::move(uses), .bind = [](const Addresses&) -> Run { return {}; }};
}
Step by_part(std::vector<BufferId> uses) {
  return {.uses = std::move(uses), .bind_part = [](const Addresses&, const Part&) -> Run { return {}; }};
}

Program program_of(std::vector<Step> steps, std::vector<Buffer> buffers) {
  Program program{.buffers = std::move(buffers), .steps = std::move(steps), .lanes = 2};
  for (std::int64_t i = 0; i < 4; ++i)
    program.parts.push_back({.first = 8 * i, .count = 8, .lane = static_cast<std::size_t>(i / 2), .opens_lane = i % 2 == 0});
  return program;
}

constexpr Buffer kBatch{Buffer::Kind::batch, 1024};

TEST(ProgramLayout, NeighboursByPartRunTogether) {
  Program program = program_of({whole({}), by_part({}), by_part({}), whole({}), by_part({})}, {});
  const ProgramLayout layout = lay_out(program);
  EXPECT_EQ(layout.segments[0].last, 0U);
  EXPECT_EQ(layout.segments[1].first, 1U);
  EXPECT_EQ(layout.segments[1].last, 2U);
  EXPECT_EQ(layout.segments[2].first, 1U);
  EXPECT_EQ(layout.segments[4].first, 4U);
}

TEST(ProgramLayout, ABufferWithinOneSegmentHasRoomForOnePartALane) {
  Program program = program_of({by_part({0}), by_part({0, 1}), whole({}), by_part({1})}, {kBatch, kBatch});
  const ProgramLayout layout = lay_out(program);
  EXPECT_EQ(layout.places[0].sample_stride, 0U);
  EXPECT_EQ(layout.places[0].lane_stride, 8U * 1024U);
  EXPECT_EQ(layout.places[1].sample_stride, 1024U);  // is read after the segment: every sample has its own place
}

TEST(ProgramLayout, WhatAWholeStepReadsIsNeverLocal) {
  Program program = program_of({by_part({0}), whole({0})}, {kBatch});
  EXPECT_EQ(lay_out(program).places[0].sample_stride, 1024U);
}

TEST(ProgramLayout, BuffersOfOneSegmentNeverShareMemory) {
  // Buffer 0 is last used before buffer 1 is first, but another part may still be at the first step.
  Program program = program_of({by_part({0}), by_part({1}), whole({0, 1})}, {kBatch, kBatch});
  Program apart = program_of({by_part({0}), whole({}), by_part({1})}, {kBatch, kBatch});
  const ProgramLayout together = lay_out(program);
  EXPECT_GE(std::max(together.offsets[0], together.offsets[1]) - std::min(together.offsets[0], together.offsets[1]), 32U * 1024U);
  const ProgramLayout shared = lay_out(apart);
  EXPECT_EQ(shared.offsets[0], shared.offsets[1]);
}

TEST(ProgramLayout, PartsOfALaneShareALocalBuffer) {
  Program program = program_of({by_part({0}), by_part({0})}, {kBatch});
  std::vector<std::byte> arena(1 << 20);
  const Addresses at = lay_out(program).addresses(arena.data());
  EXPECT_EQ(at.bytes(0, program.parts[0]), at.bytes(0, program.parts[1]));
  EXPECT_NE(at.bytes(0, program.parts[1]), at.bytes(0, program.parts[2]));
}

}  // namespace
}  // namespace trireme::engine
