// SPDX-License-Identifier: Apache-2.0
// Kernels over flat arrays, memory-bound: sums of gradients, ReLU's gradient, dropout of vectors, the penalty.
#pragma once

#include <cstdint>

namespace trireme::engine {

struct DropoutMask;

struct FlatKernels {
  // into = sum of the terms; `into` may be a term.
  void (*sum)(const float* const* terms, int count_of_terms, std::int64_t count, float* into) = nullptr;
  // into += values, in the calling thread.
  void (*accumulate)(const float* values, std::int64_t count, float* into) = nullptr;
  // out = y > 0 ? gradient : 0; out may be the gradient.
  void (*relu_backward)(const float* y, const float* gradient, std::int64_t count, float* out) = nullptr;
  // In place, on samples x count; element e of a sample as in DropoutMask.
  void (*dropout)(const DropoutMask& mask, std::int64_t samples, std::int64_t count, float* data) = nullptr;
  // gradient += factor * w; returns the sum of w^2, the same for any number of threads.
  double (*add_penalty)(const float* w, float factor, std::int64_t count, float* gradient) = nullptr;
};

namespace avx512 {
FlatKernels flat_kernels();
}
namespace avx2 {
FlatKernels flat_kernels();
}
namespace generic {
FlatKernels flat_kernels();
}

}  // namespace trireme::engine
