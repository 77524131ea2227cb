// SPDX-License-Identifier: Apache-2.0
// A tensor while a graph is lowered: shape, layout, buffer, and what is still to be done to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trireme/engine/program.h"
#include "trireme/tensor/shape.h"

namespace trireme::engine {

using TensorId = std::size_t;

enum class Layout { plain, blocked };

struct Moments {  // one value a channel, padded to whole blocks
  BufferId mean = 0;
  BufferId variance = 0;
};

struct DropoutSpec {
  BufferId keys = 0;
  std::uint32_t threshold = 0;
  float scale = 1;
};

// Work postponed to the first reader, which may fold it into a pass of its own.
struct Pending {
  std::optional<std::pair<TensorId, TensorId>> sum;  // the tensor is the sum of these
  std::optional<DropoutSpec> dropout;                // then dropped out, in place
};

// The gradient that a batch normalisation owes its input, kept as a formula (see NormGradientTerm) until the input's producer
// asks: a tensor with many readers, as in a densely connected block, is then passed over once and not once for each.
struct NormGradient {
  BufferId g = 0;
  std::int64_t g_offset = 0;  // of the tensor's channels in a sample of g, in floats
  std::int64_t g_stride = 0;  // floats of a sample of g
  bool mask_from_x = false;
  BufferId scale = 0, shift = 0, on_x = 0, constant = 0;
  std::int64_t first_lane = 0;  // of the tensor's channels in these
};

struct Tensor {
  std::string name;
  Shape shape;  // of a sample
  // Channels of each run that is padded to whole blocks; one run but for a concatenation, whose runs keep their own padding.
  std::vector<std::int64_t> segments;
  Layout layout = Layout::plain;
  std::optional<std::size_t> group;  // that makes it; none for a converted copy
  BufferId buffer = 0;
  bool needs_gradient = true;
  bool overwritable = true;      // its producer's backward doesn't read it (or only where it is positive)
  bool recomputed = false;       // the buffer is not kept for backward; its producer computes it again
  bool gradient_masked = false;  // the ReLU that made it needn't mask its gradient any more
  Pending pending;
  std::optional<DropoutSpec> dropout;  // applied to it: its gradient must be dropped out, too
  std::optional<Moments> moments;
  std::vector<NormGradient> norm_gradients;

  std::int64_t channels() const { return shape[0]; }
  std::int64_t pixels() const { return shape.count() / shape[0]; }
  std::int64_t height() const { return shape.rank() == 3 ? shape[1] : 1; }
  std::int64_t width() const { return shape.rank() >= 2 ? shape[shape.rank() - 1] : 1; }
};

}  // namespace trireme::engine
