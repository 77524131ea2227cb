// SPDX-License-Identifier: Apache-2.0
// The options of each op, described once for the builder, the job file, help and docs.
#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/options.h"

namespace trireme::graph {

// How far a window reaches over the border: nothing, what keeps ceil(size / stride) outputs, or a number on each side.
// `same` is TensorFlow's: an odd rest goes to the bottom right.
struct Padding {
  std::string mode = "valid";  // valid | same | explicit
  std::int64_t amount = 0;     // for explicit

  static Padding valid() { return {}; }
  static Padding same() { return {.mode = "same"}; }
  static Padding of(std::int64_t amount) { return {.mode = "explicit", .amount = amount}; }
};

struct InputOptions {
  std::int64_t channels = 0;  // 0: a plain vector of `width`
  std::int64_t height = 0;    // 0: a sequence of `width` (or a vector)
  std::int64_t width = 0;     // must be given
};
void describe(InputOptions& o, OptionVisitor& visit);

struct ConvOptions {         // conv2d; conv1d reads the same with height 1
  std::int64_t filters = 0;  // must be given
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  Padding padding;
  bool bias = true;
  double l2 = 0;
  std::string init = "glorot_uniform";
};
void describe(ConvOptions& o, OptionVisitor& visit);

struct DenseOptions {
  std::int64_t units = 0;  // must be given
  bool bias = true;
  double l2 = 0;
  std::string init = "glorot_uniform";
};
void describe(DenseOptions& o, OptionVisitor& visit);

struct BatchNormOptions {
  double epsilon = 1e-3;
  double momentum = 0.99;  // of the running statistics, see running_statistics.h
};
void describe(BatchNormOptions& o, OptionVisitor& visit);
void describe_momentum(BatchNormOptions& o, OptionVisitor& visit);  // as an option of a whole network

struct PoolOptions {  // max_pool, average_pool
  std::int64_t kernel = 2;
  std::int64_t stride = 0;  // 0: the kernel's
  Padding padding;
};
void describe(PoolOptions& o, OptionVisitor& visit);

struct DropoutOptions {
  double rate = 0.5;
};
void describe(DropoutOptions& o, OptionVisitor& visit);

struct NoOptions {};  // relu, sigmoid, tanh, softmax, add, concat, flatten, global_average_pool
void describe(NoOptions& o, OptionVisitor& visit);

}  // namespace trireme::graph
