// SPDX-License-Identifier: Apache-2.0
// The size of a part from the model's largest tensor.
#include "trireme/engine/parts.h"

#include <algorithm>

namespace trireme::engine {
namespace {

// A part's largest tensor should fit into the caches of one core. densenet was fastest with 8 samples a part (3 MB), resnet_v2 with 16
// (4 MB); more than 32 brought nothing.
constexpr std::size_t kPartBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxSamples = 32;

// The largest tensor of a sample that convolutions and batch normalisation pass on.
std::size_t largest_sample_bytes(const graph::Graph& graph, int block) {
  std::int64_t largest = 1;
  for (const graph::Node& node : graph.nodes()) {
    if (node.shape.rank() > 1 && node.op->name != "input")
      largest = std::max(largest, (node.shape[0] + block - 1) / block * block * (node.shape.count() / node.shape[0]));
  }
  return static_cast<std::size_t>(largest) * sizeof(float);
}

// Equal parts, the same number a lane, of `ideal` samples or somewhat fewer if that leaves fewer seats empty.
std::vector<Part> cut(std::int64_t batch, std::int64_t ideal, std::int64_t lanes) {
  const auto parts_of = [&](std::int64_t size) { return (batch + size * lanes - 1) / (size * lanes) * lanes; };
  std::int64_t size = std::min(ideal, (batch + lanes - 1) / lanes);
  for (std::int64_t smaller = size - 1; smaller >= (ideal + 1) / 2; --smaller) {
    if (smaller * parts_of(smaller) < size * parts_of(size)) size = smaller;
  }
  const std::int64_t count = parts_of(size);
  std::vector<Part> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto lane = static_cast<std::size_t>(i * lanes / count);
    parts.push_back({.first = i * size, .count = size, .lane = lane, .opens_lane = parts.empty() || parts.back().lane != lane});
  }
  return parts;
}

}  // namespace

bool gains_from_parts(const graph::Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const graph::Node& node) { return node.op->name == "batch_norm"; });
}

std::vector<Part> cut_into_parts(const graph::Graph& graph, std::int64_t batch, int threads, int block) {
  const std::int64_t lanes = std::min<std::int64_t>(threads, batch);
  if (!gains_from_parts(graph)) return cut(batch, batch, lanes);
  const std::size_t ideal = std::clamp<std::size_t>(kPartBytes / largest_sample_bytes(graph, block), 1, kMaxSamples);
  return cut(batch, static_cast<std::int64_t>(ideal), lanes);
}

}  // namespace trireme::engine
