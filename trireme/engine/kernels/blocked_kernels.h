// SPDX-License-Identifier: Apache-2.0
// Kernels no library has: batch normalisation fused with ReLU, residual sums, dropout and recomputation, on channel-blocked tensors.
#pragma once

#include <cstdint>

namespace trireme::engine {

// A run of channel blocks of a batch, stored sample, block, pixel, lane (nChw16c or nChw8c). The run may be a part of a wider
// tensor, hence the stride. Lanes beyond the real channels hold zero and must stay so.
struct BlockedView {
  float* data = nullptr;
  std::int64_t sample_stride = 0;  // in floats
};

struct BlockedExtent {
  std::int64_t batch = 0;    // samples to work on; all are written
  std::int64_t samples = 0;  // samples that are there; only they count in statistics and gradients
  std::int64_t blocks = 0;
  std::int64_t pixels = 0;
};

// Element e = channel * pixels + pixel of a sample is kept iff random_bits(keys[sample], e) >= threshold.
struct DropoutMask {
  const std::uint32_t* keys = nullptr;  // one a sample of the batch; null: no dropout
  std::uint32_t threshold = 0;
  float scale = 1;
};

// First pass over a tensor that will be normalised: x = source (+ addend), dropped out, stored, and summed up.
struct MomentsArgs {
  BlockedExtent extent;
  BlockedView source;
  BlockedView addend;       // optional
  BlockedView destination;  // optional; needed with an addend or dropout; may be the source
  DropoutMask dropout;
  float* partials = nullptr;  // batch x blocks x 2 x block: mean and sum of squares around it, per sample
};

// Brings the samples' partial results together, in sample order: the same result for any number of threads.
struct CombineArgs {
  BlockedExtent extent;
  const float* partials = nullptr;  // batch x blocks x 2 x block
  float* first = nullptr;           // blocks x block each: mean and biased variance, or the two sums
  float* second = nullptr;
};

// y = scale * x + shift (+ residual), then ReLU if asked.
struct NormalizeArgs {
  BlockedExtent extent;
  BlockedView x;
  BlockedView residual;  // optional
  BlockedView y;
  const float* scale = nullptr;
  const float* shift = nullptr;
  bool relu = false;
};

enum class MaskSource { none, from_x, from_y };  // where the ReLU's mask comes from: scale * x + shift > 0, or y > 0

// First backward pass: g = (sum of the terms) * mask; sums of g and g * (x - mean); optionally stores g and y computed again.
struct NormBackwardSumsArgs {
  BlockedExtent extent;
  BlockedView terms[2];  // the second is optional
  BlockedView x;
  BlockedView y;  // for MaskSource::from_y
  MaskSource mask = MaskSource::none;
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* mean = nullptr;
  BlockedView masked;         // optional: receives g; may be a term
  BlockedView recomputed;     // optional: receives y = relu(scale * x + shift), or without ReLU for MaskSource::none
  float* partials = nullptr;  // batch x blocks x 2 x block
};

// What one reader of x contributes to its gradient: scale * g * mask + on_x * x + constant.
struct NormGradientTerm {
  BlockedView g;
  bool mask_from_x = false;  // mask = scale * x + shift > 0
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* on_x = nullptr;
  const float* constant = nullptr;
};

// Second backward pass, for all batch normalisations that read x at once: dx (+)= sum of the terms, then dropout's mask.
struct NormBackwardApplyArgs {
  BlockedExtent extent;
  BlockedView x;
  BlockedView dx;
  bool accumulate = false;
  const NormGradientTerm* terms = nullptr;
  int count = 0;
  DropoutMask dropout;
};

struct DropoutArgs {  // in place
  BlockedExtent extent;
  BlockedView x;
  DropoutMask mask;
};

struct GlobalAverageArgs {
  BlockedExtent extent;
  BlockedView image;
  BlockedView means;  // one pixel
};

// One set of kernels for each instruction set; `block` is the number of channels in a block. Those of batch normalisation run in
// the calling thread, which has a part of the batch; the others use all threads.
struct BlockedKernels {
  int block = 0;
  void (*moments)(const MomentsArgs&) = nullptr;
  void (*combine_moments)(const CombineArgs&) = nullptr;
  void (*normalize)(const NormalizeArgs&) = nullptr;
  void (*norm_backward_sums)(const NormBackwardSumsArgs&) = nullptr;
  void (*combine_sums)(const CombineArgs&) = nullptr;
  void (*norm_backward_apply)(const NormBackwardApplyArgs&) = nullptr;
  void (*dropout)(const DropoutArgs&) = nullptr;
  void (*global_average)(const GlobalAverageArgs&) = nullptr;
  void (*global_average_backward)(const GlobalAverageArgs&) = nullptr;  // image = means / pixels
};

namespace avx512 {
BlockedKernels blocked_kernels();
}
namespace avx2 {
BlockedKernels blocked_kernels();
}
namespace generic {
BlockedKernels blocked_kernels();
}

}  // namespace trireme::engine
