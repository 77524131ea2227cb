// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: a pure function of a key and a counter, the same on every machine and thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace trireme {

// Steele's and Vigna's 64-bit finalizer: every input bit moves every output bit.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// A key made of two: (seed, epoch), then (that, sample), then (that, layer) ...
constexpr std::uint64_t combine(std::uint64_t a, std::uint64_t b) { return mix64(a ^ mix64(b)); }

constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char c : text) hash = combine(hash, static_cast<unsigned char>(c));
  return hash;
}

// 32 random bits for element `index` of the stream `key`. 32-bit arithmetic only, so that a kernel can
// compute it for a whole vector at once; blocked_kernels.cc repeats exactly this formula.
constexpr std::uint32_t random_bits(std::uint32_t key, std::uint32_t index) {
  std::uint32_t x = (index + key) * 0x9e3779b1U;
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  return x ^ (x >> 16);
}

// A stream of numbers from one key, for places where speed doesn't matter (initial weights, shuffles, synthetic data).
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t key) : key_(key) {}

  std::uint64_t bits() { return combine(key_, counter_++); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Unbiased enough for n far below 2^64.
  std::uint64_t below(std::uint64_t n) { return static_cast<std::uint64_t>((static_cast<Wide>(bits()) * n) >> 64); }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace trireme
