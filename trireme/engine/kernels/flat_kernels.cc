// SPDX-License-Identifier: Apache-2.0
// The flat kernels, compiled once per instruction set (TRIREME_ISA); includes nothing that could leak instructions into other files.
#include "trireme/engine/kernels/flat_kernels.h"

#include "trireme/engine/kernels/blocked_kernels.h"

namespace trireme::engine::TRIREME_ISA {
namespace {

constexpr std::int64_t kChunk = 8192;  // floats a thread takes at a time: a few pages, well below a cache

// Calls body(begin, end) for chunks of [0, count), over the threads.
template <class Body>
inline void for_each_chunk(std::int64_t count, const Body& body) {
  const std::int64_t chunks = (count + kChunk - 1) / kChunk;
#pragma omp parallel for schedule(static) if (chunks > 1)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) body(chunk * kChunk, chunk + 1 < chunks ? (chunk + 1) * kChunk : count);
}

void sum(const float* const* terms, int count_of_terms, std::int64_t count, float* into) {
  for_each_chunk(count, [&](std::int64_t begin, std::int64_t end) {
    const float* a = terms[0];
    const float* b = count_of_terms > 1 ? terms[1] : nullptr;
    if (b == nullptr) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) into[i] = a[i];
      return;
    }
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) into[i] = a[i] + b[i];
    for (int t = 2; t < count_of_terms; ++t) {
      const float* more = terms[t];
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) into[i] += more[i];
    }
  });
}

void accumulate(const float* values, std::int64_t count, float* into) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) into[i] += values[i];
}

void relu_backward(const float* y, const float* gradient, std::int64_t count, float* out) {
  for_each_chunk(count, [&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      const float g = gradient[i];
      out[i] = y[i] > 0 ? g : 0.0F;
    }
  });
}

// The formula of random_bits (base/random.h).
inline std::uint32_t bits_of(std::uint32_t key, std::uint32_t index) {
  std::uint32_t x = (index + key) * 0x9e3779b1U;
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  return x ^ (x >> 16);
}

void dropout(const DropoutMask& mask, std::int64_t samples, std::int64_t count, float* data) {
#pragma omp parallel for schedule(static)
  for (std::int64_t n = 0; n < samples; ++n) {
    float* row = data + n * count;
    const std::uint32_t key = mask.keys[n];
    const std::uint32_t threshold = mask.threshold;
    const float scale = mask.scale;
#pragma omp simd
    for (std::int64_t e = 0; e < count; ++e) {
      const float value = row[e] * scale;
      row[e] = bits_of(key, static_cast<std::uint32_t>(e)) >= threshold ? value : 0.0F;
    }
  }
}

double add_penalty(const float* w, float factor, std::int64_t count, float* gradient) {
  double squares = 0;
  for (std::int64_t begin = 0; begin < count; begin += kChunk) {
    const std::int64_t end = begin + kChunk < count ? begin + kChunk : count;
    float chunk = 0;
#pragma omp simd reduction(+ : chunk)
    for (std::int64_t i = begin; i < end; ++i) {
      gradient[i] += factor * w[i];
      chunk += w[i] * w[i];
    }
    squares += static_cast<double>(chunk);
  }
  return squares;
}

}  // namespace

FlatKernels flat_kernels() {
  return {.sum = sum, .accumulate = accumulate, .relu_backward = relu_backward, .dropout = dropout, .add_penalty = add_penalty};
}

}  // namespace trireme::engine::TRIREME_ISA
