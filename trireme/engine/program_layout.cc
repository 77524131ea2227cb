// SPDX-License-Identifier: Apache-2.0
// Lives of buffers from the steps that use them, and their places.
#include "trireme/engine/program_layout.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/engine/kernels/memory_plan.h"

namespace trireme::engine {
namespace {

std::vector<Segment> segments_of(const std::vector<Step>& steps) {
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool joins = i > 0 && steps[i].bind_part && steps[i - 1].bind_part;
    segments.push_back({joins ? segments.back().first : i, i});
  }
  for (std::size_t i = segments.size(); i-- > 1;) {
    if (segments[i].first <= i - 1) segments[i - 1].last = segments[i].last;
  }
  return segments;
}

void insert_early(Program& program) {
  const auto segments = segments_of(program.steps);
  std::vector<Step> steps;
  auto early = program.early.begin();
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    for (; early != program.early.end() && segments[early->before].first <= i; ++early) steps.push_back(std::move(early->step));
    steps.push_back(std::move(program.steps[i]));
  }
  ensure(early == program.early.end(), "a step follows every early one");
  program.steps = std::move(steps);
  program.early.clear();
}

struct Use {
  bool used = false;
  bool only_by_part = true;
  std::size_t first = 0;
  std::size_t last = 0;
};

// A life reaches over whole segments: while one part is at a segment's last step, another is at its first.
std::vector<Use> uses_of(const Program& program, const std::vector<Segment>& segments) {
  std::vector<Use> uses(program.buffers.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    for (const BufferId id : program.steps[i].uses) {
      Use& use = uses[id];
      if (!use.used) use = {.used = true, .first = segments[i].first};
      use.last = segments[i].last;
      use.only_by_part = use.only_by_part && program.steps[i].bind_part;
    }
  }
  return uses;
}

Addresses::Place place_of(const Buffer& buffer, const Use& use, const std::vector<Segment>& segments, std::size_t part_size) {
  const bool local = use.only_by_part && use.used && segments[use.first].last == use.last;
  switch (buffer.kind) {
    case Buffer::Kind::shared:
      return {};
    case Buffer::Kind::lane:
      return {.lane_stride = (buffer.bytes + 255) / 256 * 256};
    case Buffer::Kind::batch:
      return local ? Addresses::Place{.lane_stride = buffer.bytes * part_size} : Addresses::Place{.sample_stride = buffer.bytes};
  }
  return {};
}

std::size_t bytes_of(const Buffer& buffer, const Addresses::Place& place, const Program& program) {
  if (place.lane_stride > 0) return place.lane_stride * program.lanes;
  if (place.sample_stride > 0) return place.sample_stride * static_cast<std::size_t>(program.parts.front().count) * program.parts.size();
  return buffer.bytes;
}

}  // namespace

Addresses ProgramLayout::addresses(std::byte* arena) const {
  std::vector<Addresses::Place> moved = places;
  for (std::size_t id = 0; id < moved.size(); ++id) moved[id].data = arena + offsets[id];
  return Addresses(std::move(moved));
}

ProgramLayout lay_out(Program& program) {
  insert_early(program);
  ProgramLayout layout{.segments = segments_of(program.steps)};
  const auto uses = uses_of(program, layout.segments);
  std::vector<BufferLife> lives;
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    layout.places.push_back(
        place_of(program.buffers[id], uses[id], layout.segments, static_cast<std::size_t>(program.parts.front().count)));
    const std::size_t bytes = uses[id].used ? bytes_of(program.buffers[id], layout.places.back(), program) : 0;
    lives.push_back({.bytes = bytes, .first = uses[id].first, .last = uses[id].last});
  }
  MemoryPlan plan = plan_memory(lives);
  layout.offsets = std::move(plan.offsets);
  layout.bytes = plan.bytes;
  return layout;
}

}  // namespace trireme::engine
