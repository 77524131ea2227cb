// SPDX-License-Identifier: Apache-2.0
// What there is to know about an op without a fast kernel: options, shapes, parameters, cost, and its meaning in plain loops.
#pragma once

#include <any>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/options.h"
#include "trireme/tensor/shape.h"

namespace trireme::graph {

struct ParameterSpec {
  std::string name;  // "kernel"
  Shape shape;
  std::string init;  // glorot_uniform | he_normal | zeros | ones
  std::int64_t fan_in = 1;
  std::int64_t fan_out = 1;
  double l2 = 0;
  std::optional<float> if_absent;  // of a state that older checkpoints lack: its value there
};

struct Definition {
  Shape shape;  // of one sample's output
  std::vector<ParameterSpec> parameters;
  std::vector<ParameterSpec> states;  // non-trainable: running statistics and the number of their updates
};

// Per sample. A multiply-add is two FLOPs.
struct Cost {
  double forward_flops = 0;
  double backward_flops = 0;
};

// One call of a reference kernel, in double precision; tensors are plain row-major, samples outermost.
struct ReferenceCall {
  std::int64_t batch = 1;
  bool training = true;
  std::span<const Shape> input_shapes;
  Shape output_shape;
  std::vector<const double*> inputs;
  std::vector<const double*> parameters;
  std::vector<const double*> states;           // used instead of batch statistics when not training
  std::span<const std::uint32_t> sample_keys;  // of this layer: one random stream a sample (dropout)
  double* output = nullptr;
};

struct Example {  // an odd case that the conformance suite tries
  std::any options;
  std::vector<Shape> inputs;
};

struct OpEntry {
  std::string_view name;
  std::string_view summary;
  OptionsType options;
  int min_inputs = 1;
  int max_inputs = 1;
  // Throws invalid_argument naming both shapes if they don't fit.
  Definition (*define)(const std::any& options, std::span<const Shape> inputs) = nullptr;
  Cost (*cost)(const std::any& options, std::span<const Shape> inputs, const Shape& output) = nullptr;
  void (*reference)(const std::any& options, const ReferenceCall& call) = nullptr;
  std::vector<Example> (*examples)() = nullptr;
};

namespace ops {
const std::vector<OpEntry>& catalog();
}
// Throws invalid_argument with the nearest name if there is none.
const OpEntry& find_op(std::string_view name);

}  // namespace trireme::graph
