// SPDX-License-Identifier: Apache-2.0
// The blocked kernels, compiled once per instruction set (TRIREME_ISA); includes nothing that could leak instructions into other files.
#include "trireme/engine/kernels/blocked_kernels.h"

namespace trireme::engine::TRIREME_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kBlock = 16;
#else
constexpr int kBlock = 8;
#endif
using Vec = float __attribute__((vector_size(kBlock * 4)));
using Bits = std::uint32_t __attribute__((vector_size(kBlock * 4)));
using Mask = std::int32_t __attribute__((vector_size(kBlock * 4)));

// may_alias and alignment of a float: parameters' slices and caches of coefficients lie anywhere.
using LooseVec = float __attribute__((vector_size(kBlock * 4), aligned(4), may_alias));

inline Vec load(const float* p) { return *reinterpret_cast<const LooseVec*>(p); }
inline void store(float* p, Vec v) { *reinterpret_cast<LooseVec*>(p) = v; }
inline Vec relu(Vec v) { return v > 0 ? v : Vec{}; }

// Where a (sample, block) pair stands in a view.
inline float* at(const BlockedView& view, std::int64_t sample, std::int64_t block, std::int64_t pixels) {
  return view.data + sample * view.sample_stride + block * pixels * kBlock;
}

// Calls body(sample, block) for all pairs; sample-major, so it walks through memory.
template <class Body>
inline void in_this_thread(std::int64_t samples, std::int64_t blocks, const Body& body) {
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    for (std::int64_t block = 0; block < blocks; ++block) body(sample, block);
  }
}

template <class Body>
inline void over_the_threads(std::int64_t samples, std::int64_t blocks, const Body& body) {
#pragma omp parallel for schedule(static)
  for (std::int64_t task = 0; task < samples * blocks; ++task) body(task / blocks, task % blocks);
}

// The formula of random_bits (base/random.h), a lane a channel.
struct Dropper {
  Bits lanes{};  // key + element index of pixel 0
  std::uint32_t threshold = 0;
  float scale = 1;

  Dropper() = default;
  Dropper(const DropoutMask& mask, std::int64_t sample, std::int64_t block, std::int64_t pixels)
      : threshold(mask.threshold), scale(mask.scale) {
    for (int lane = 0; lane < kBlock; ++lane)
      lanes[lane] = mask.keys[sample] + static_cast<std::uint32_t>((block * kBlock + lane) * pixels);
  }
  Vec operator()(Vec v, std::int64_t pixel) const {
    Bits x = (lanes + static_cast<std::uint32_t>(pixel)) * 0x9e3779b1U;
    x ^= x >> 16;
    x *= 0x85ebca6bU;
    x ^= x >> 13;
    x *= 0xc2b2ae35U;
    x ^= x >> 16;
    return x >= threshold ? v * scale : Vec{};
  }
};

template <bool kAdd, bool kDrop, bool kStore>
void moments_block(const MomentsArgs& a, std::int64_t sample, std::int64_t block) {
  const std::int64_t pixels = a.extent.pixels;
  const float* x = at(a.source, sample, block, pixels);
  const float* addend = kAdd ? at(a.addend, sample, block, pixels) : nullptr;
  float* out = kStore ? at(a.destination, sample, block, pixels) : nullptr;
  Dropper drop;
  if constexpr (kDrop) drop = Dropper(a.dropout, sample, block, pixels);
  const auto value = [&](std::int64_t p) {
    Vec v = load(x + p * kBlock);
    if constexpr (kAdd) v += load(addend + p * kBlock);
    if constexpr (kDrop) v = drop(v, p);
    if constexpr (kStore) store(out + p * kBlock, v);
    return v;
  };
  // Sums around the first value: a mean far from zero costs no digits. Two chains hide the latency of the additions.
  const Vec pivot = value(0);
  Vec sum[2] = {};
  Vec squares[2] = {};
  std::int64_t p = 1;
  for (; p + 1 < pixels; p += 2) {
    const Vec d0 = value(p) - pivot;
    const Vec d1 = value(p + 1) - pivot;
    sum[0] += d0;
    sum[1] += d1;
    squares[0] += d0 * d0;
    squares[1] += d1 * d1;
  }
  for (; p < pixels; ++p) {
    const Vec d = value(p) - pivot;
    sum[0] += d;
    squares[0] += d * d;
  }
  if (sample >= a.extent.samples) return;
  const auto count = static_cast<float>(pixels);
  const Vec total = sum[0] + sum[1];
  float* partial = a.partials + (sample * a.extent.blocks + block) * 2 * kBlock;
  store(partial, pivot + total / count);
  store(partial + kBlock, squares[0] + squares[1] - total * total / count);
}

// Chan's formula for means and squares around them.
void combine_moments(const CombineArgs& a) {
  const std::int64_t blocks = a.extent.blocks;
  const auto pixels = static_cast<double>(a.extent.pixels);
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < blocks; ++block) {
    double mean[kBlock] = {};
    double squares[kBlock] = {};
    for (std::int64_t n = 0; n < a.extent.samples; ++n) {
      const float* partial = a.partials + (n * blocks + block) * 2 * kBlock;
      const double share = 1.0 / static_cast<double>(n + 1);
      for (int lane = 0; lane < kBlock; ++lane) {
        const double delta = static_cast<double>(partial[lane]) - mean[lane];
        mean[lane] += delta * share;
        squares[lane] += static_cast<double>(partial[kBlock + lane]) + delta * delta * pixels * static_cast<double>(n) * share;
      }
    }
    const double count = pixels * static_cast<double>(a.extent.samples);
    for (int lane = 0; lane < kBlock; ++lane) {
      a.first[block * kBlock + lane] = static_cast<float>(mean[lane]);
      a.second[block * kBlock + lane] = static_cast<float>(squares[lane] > 0 ? squares[lane] / count : 0);
    }
  }
}

template <bool kAdd, bool kDrop, bool kStore>
void run_moments(const MomentsArgs& a) {
  // Without a store there is nothing to do for the samples that are not there.
  in_this_thread(kStore ? a.extent.batch : a.extent.samples, a.extent.blocks,
                 [&](std::int64_t sample, std::int64_t block) { moments_block<kAdd, kDrop, kStore>(a, sample, block); });
}

void moments(const MomentsArgs& a) {
  const bool add = a.addend.data != nullptr;
  const bool drop = a.dropout.keys != nullptr;
  if (add && drop) return run_moments<true, true, true>(a);
  if (add) return run_moments<true, false, true>(a);
  if (drop) return run_moments<false, true, true>(a);
  run_moments<false, false, false>(a);
}

template <bool kResidual, bool kRelu>
void run_normalize(const NormalizeArgs& a) {
  const std::int64_t pixels = a.extent.pixels;
  in_this_thread(a.extent.batch, a.extent.blocks, [&](std::int64_t sample, std::int64_t block) {
    const float* x = at(a.x, sample, block, pixels);
    const float* residual = kResidual ? at(a.residual, sample, block, pixels) : nullptr;
    float* y = at(a.y, sample, block, pixels);
    const Vec scale = load(a.scale + block * kBlock);
    const Vec shift = load(a.shift + block * kBlock);
    for (std::int64_t p = 0; p < pixels; ++p) {
      Vec v = scale * load(x + p * kBlock) + shift;
      if constexpr (kResidual) v += load(residual + p * kBlock);
      if constexpr (kRelu) v = relu(v);
      store(y + p * kBlock, v);
    }
  });
}

void normalize(const NormalizeArgs& a) {
  if (a.residual.data != nullptr) return a.relu ? run_normalize<true, true>(a) : run_normalize<true, false>(a);
  return a.relu ? run_normalize<false, true>(a) : run_normalize<false, false>(a);
}

template <int kTerms, MaskSource kMask, bool kStoreMasked, bool kRecompute>
void backward_sums_block(const NormBackwardSumsArgs& a, std::int64_t sample, std::int64_t block) {
  const std::int64_t pixels = a.extent.pixels;
  const bool there = sample < a.extent.samples;
  const float* x = at(a.x, sample, block, pixels);
  const float* first = at(a.terms[0], sample, block, pixels);
  const float* second = kTerms == 2 ? at(a.terms[1], sample, block, pixels) : nullptr;
  const float* y = kMask == MaskSource::from_y ? at(a.y, sample, block, pixels) : nullptr;
  float* masked = kStoreMasked ? at(a.masked, sample, block, pixels) : nullptr;
  float* recomputed = kRecompute ? at(a.recomputed, sample, block, pixels) : nullptr;
  const Vec scale = load(a.scale + block * kBlock);
  const Vec shift = load(a.shift + block * kBlock);
  const Vec mean = load(a.mean + block * kBlock);
  Vec sum_g = {};
  Vec sum_gx = {};
  for (std::int64_t p = 0; p < pixels; ++p) {
    const Vec xv = load(x + p * kBlock);
    Vec g = load(first + p * kBlock);
    if constexpr (kTerms == 2) g += load(second + p * kBlock);
    const Vec value = scale * xv + shift;
    if constexpr (kMask == MaskSource::from_x) g = value > 0 ? g : Vec{};
    if constexpr (kMask == MaskSource::from_y) g = load(y + p * kBlock) > 0 ? g : Vec{};
    if constexpr (kRecompute) store(recomputed + p * kBlock, kMask == MaskSource::none ? value : relu(value));
    if constexpr (kStoreMasked) store(masked + p * kBlock, there ? g : Vec{});
    sum_g += g;
    sum_gx += g * (xv - mean);
  }
  if (!there) return;
  float* partial = a.partials + (sample * a.extent.blocks + block) * 2 * kBlock;
  store(partial, sum_g);
  store(partial + kBlock, sum_gx);
}

void combine_sums(const CombineArgs& a) {
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < a.extent.blocks; ++block) {
    double sums[2 * kBlock] = {};
    for (std::int64_t n = 0; n < a.extent.samples; ++n) {
      const float* partial = a.partials + (n * a.extent.blocks + block) * 2 * kBlock;
      for (int i = 0; i < 2 * kBlock; ++i) sums[i] += static_cast<double>(partial[i]);
    }
    for (int lane = 0; lane < kBlock; ++lane) {
      a.first[block * kBlock + lane] = static_cast<float>(sums[lane]);
      a.second[block * kBlock + lane] = static_cast<float>(sums[kBlock + lane]);
    }
  }
}

template <int kTerms, MaskSource kMask, bool kStoreMasked, bool kRecompute>
void run_backward_sums(const NormBackwardSumsArgs& a) {
  in_this_thread(
      kStoreMasked || kRecompute ? a.extent.batch : a.extent.samples, a.extent.blocks,
      [&](std::int64_t sample, std::int64_t block) { backward_sums_block<kTerms, kMask, kStoreMasked, kRecompute>(a, sample, block); });
}

template <int kTerms, MaskSource kMask>
void choose_backward_stores(const NormBackwardSumsArgs& a) {
  const bool masked = a.masked.data != nullptr;
  const bool recomputed = a.recomputed.data != nullptr;
  if (masked && recomputed) return run_backward_sums<kTerms, kMask, true, true>(a);
  if (masked) return run_backward_sums<kTerms, kMask, true, false>(a);
  if (recomputed) return run_backward_sums<kTerms, kMask, false, true>(a);
  run_backward_sums<kTerms, kMask, false, false>(a);
}

template <int kTerms>
void choose_backward_mask(const NormBackwardSumsArgs& a) {
  switch (a.mask) {
    case MaskSource::none:
      return choose_backward_stores<kTerms, MaskSource::none>(a);
    case MaskSource::from_x:
      return choose_backward_stores<kTerms, MaskSource::from_x>(a);
    case MaskSource::from_y:
      return choose_backward_stores<kTerms, MaskSource::from_y>(a);
  }
}

void norm_backward_sums(const NormBackwardSumsArgs& a) {
  a.terms[1].data != nullptr ? choose_backward_mask<2>(a) : choose_backward_mask<1>(a);
}

constexpr int kMaxTermsAtOnce = 8;  // their coefficients stay in registers or the nearest cache

// One term's share, without on_x * x + constant, which are added up over the terms beforehand.
inline Vec term_at(const float* g, bool mask_from_x, Vec scale, Vec shift, Vec x) {
  const Vec v = scale * load(g);
  return mask_from_x ? (scale * x + shift > 0 ? v : Vec{}) : v;
}

// kTerms is the number of terms, or 0 for any up to kMaxTermsAtOnce.
template <int kTerms, bool kAccumulate, bool kDrop>
void backward_apply_block(const NormBackwardApplyArgs& a, std::int64_t sample, std::int64_t block) {
  const std::int64_t pixels = a.extent.pixels;
  float* dx = at(a.dx, sample, block, pixels);
  if (sample >= a.extent.samples) {
    if constexpr (!kAccumulate) {
      for (std::int64_t p = 0; p < pixels; ++p) store(dx + p * kBlock, Vec{});
    }
    return;
  }
  const int count = kTerms > 0 ? kTerms : a.count;
  const float* x = at(a.x, sample, block, pixels);
  const float* g[kMaxTermsAtOnce];
  Vec scale[kMaxTermsAtOnce], shift[kMaxTermsAtOnce];
  Vec on_x = {}, constant = {};
  for (int t = 0; t < count; ++t) {
    const NormGradientTerm& term = a.terms[t];
    g[t] = at(term.g, sample, block, pixels);
    scale[t] = load(term.scale + block * kBlock);
    shift[t] = load(term.shift + block * kBlock);
    on_x += load(term.on_x + block * kBlock);
    constant += load(term.constant + block * kBlock);
  }
  Dropper drop;
  if constexpr (kDrop) drop = Dropper(a.dropout, sample, block, pixels);
  for (std::int64_t p = 0; p < pixels; ++p) {
    const Vec xv = load(x + p * kBlock);
    Vec v = on_x * xv + constant;
    for (int t = 0; t < count; ++t) v += term_at(g[t] + p * kBlock, a.terms[t].mask_from_x, scale[t], shift[t], xv);
    if constexpr (kAccumulate) v += load(dx + p * kBlock);
    if constexpr (kDrop) v = drop(v, p);
    store(dx + p * kBlock, v);
  }
}

template <bool kAccumulate, bool kDrop>
void run_backward_apply(const NormBackwardApplyArgs& a) {
  in_this_thread(a.extent.batch, a.extent.blocks, [&](std::int64_t sample, std::int64_t block) {
    a.count == 1 ? backward_apply_block<1, kAccumulate, kDrop>(a, sample, block)
                 : backward_apply_block<0, kAccumulate, kDrop>(a, sample, block);
  });
}

void norm_backward_apply(const NormBackwardApplyArgs& a) {
  NormBackwardApplyArgs now = a;
  for (int done = 0; done < a.count; done += now.count) {
    now.terms = a.terms + done;
    now.count = a.count - done < kMaxTermsAtOnce ? a.count - done : kMaxTermsAtOnce;
    now.accumulate = a.accumulate || done > 0;
    const bool drop = a.dropout.keys != nullptr && done + now.count == a.count;
    if (now.accumulate) {
      drop ? run_backward_apply<true, true>(now) : run_backward_apply<true, false>(now);
    } else {
      drop ? run_backward_apply<false, true>(now) : run_backward_apply<false, false>(now);
    }
  }
}

void dropout(const DropoutArgs& a) {
  const std::int64_t pixels = a.extent.pixels;
  in_this_thread(a.extent.samples, a.extent.blocks, [&](std::int64_t sample, std::int64_t block) {
    float* x = at(a.x, sample, block, pixels);
    const Dropper drop(a.mask, sample, block, pixels);
    for (std::int64_t p = 0; p < pixels; ++p) store(x + p * kBlock, drop(load(x + p * kBlock), p));
  });
}

void global_average(const GlobalAverageArgs& a) {
  const std::int64_t pixels = a.extent.pixels;
  over_the_threads(a.extent.batch, a.extent.blocks, [&](std::int64_t sample, std::int64_t block) {
    const float* image = at(a.image, sample, block, pixels);
    Vec sum = {};
    for (std::int64_t p = 0; p < pixels; ++p) sum += load(image + p * kBlock);
    store(at(a.means, sample, block, 1), sum / static_cast<float>(pixels));
  });
}

void global_average_backward(const GlobalAverageArgs& a) {
  const std::int64_t pixels = a.extent.pixels;
  over_the_threads(a.extent.batch, a.extent.blocks, [&](std::int64_t sample, std::int64_t block) {
    float* image = at(a.image, sample, block, pixels);
    const Vec share = load(at(a.means, sample, block, 1)) / static_cast<float>(pixels);
    for (std::int64_t p = 0; p < pixels; ++p) store(image + p * kBlock, share);
  });
}

}  // namespace

BlockedKernels blocked_kernels() {
  return {.block = kBlock,
          .moments = moments,
          .combine_moments = combine_moments,
          .normalize = normalize,
          .norm_backward_sums = norm_backward_sums,
          .combine_sums = combine_sums,
          .norm_backward_apply = norm_backward_apply,
          .dropout = dropout,
          .global_average = global_average,
          .global_average_backward = global_average_backward};
}

}  // namespace trireme::engine::TRIREME_ISA
