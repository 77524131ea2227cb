// SPDX-License-Identifier: Apache-2.0
// What a graph is lowered to: buffers, and steps that run one after another, some of them part of the batch by part.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/engine/executor.h"

namespace trireme::engine {

using BufferId = std::size_t;

// What the caller hands in for one run of the steps.
struct Call {
  const BatchView* batch = nullptr;
  ModelView model;
  Outcome* outcome = nullptr;
  const StatisticsExchange* exchange = nullptr;  // null: batch normalisation sees this batch only

  std::int64_t samples_of_statistics() const { return exchange != nullptr ? exchange->samples : batch->size; }
  // Of this batch among those.
  double share() const { return static_cast<double>(batch->size) / static_cast<double>(samples_of_statistics()); }
};

// A few samples of the batch, small enough that what a step writes is still in the cache when the next reads it.
// The parts are dealt to lanes; each lane is one thread.
struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::size_t lane = 0;
  bool opens_lane = false;  // the lane's first part

  // Samples of the part that are there.
  std::int64_t samples(const Call& call) const { return std::max<std::int64_t>(0, std::min(count, call.batch->size - first)); }
};

struct Buffer {
  enum class Kind { shared, batch, lane };
  Kind kind = Kind::shared;
  std::size_t bytes = 0;  // in all; of a sample for batch; of a lane for lane
};

// Where the memory plan has put each buffer.
class Addresses {
 public:
  struct Place {
    std::byte* data = nullptr;
    std::size_t sample_stride = 0;  // zero for a buffer that only a lane's current part uses
    std::size_t lane_stride = 0;
  };
  explicit Addresses(std::vector<Place> places) : places_(std::move(places)) {}

  std::byte* bytes(BufferId id) const { return places_[id].data; }
  float* floats(BufferId id) const { return reinterpret_cast<float*>(bytes(id)); }
  std::uint32_t* words(BufferId id) const { return reinterpret_cast<std::uint32_t*>(bytes(id)); }
  // Of a batch buffer: the part's first sample. Of a lane buffer: the lane's own.
  std::byte* bytes(BufferId id, const Part& part) const {
    const Place& place = places_[id];
    return place.data + static_cast<std::size_t>(part.first) * place.sample_stride + part.lane * place.lane_stride;
  }
  float* floats(BufferId id, const Part& part) const { return reinterpret_cast<float*>(bytes(id, part)); }

 private:
  std::vector<Place> places_;
};

using Run = std::function<void(const Call&)>;

struct Step {
  std::string name;
  std::string category;
  std::vector<BufferId> uses;  // all buffers it reads or writes: their lives come from here
  // One of the two, called when the addresses are known: once, or once for each part. Steps by part that follow one another
  // run together: all of them on one part, then all on the next.
  std::function<Run(const Addresses&)> bind;
  std::function<Run(const Addresses&, const Part&)> bind_part;
  std::vector<std::size_t> ready;  // slices whose gradient is complete after it (before the penalty); not by part
  std::vector<std::size_t> reads;  // slices whose values it reads
};

// A whole step that must not tear steps by part apart: it runs before the segment that step number `before` is part of.
struct EarlyStep {
  std::size_t before = 0;
  Step step;
};

struct Program {
  std::vector<Buffer> buffers;
  std::vector<EarlyStep> early;  // in the order of `before`: what depends only on the parameters and the batch
  std::vector<Step> steps;
  std::vector<Part> parts;
  std::size_t lanes = 1;
};

}  // namespace trireme::engine
