// SPDX-License-Identifier: Apache-2.0
// Sums of f32, f64 and the two 16-bit types, and conversions; on every CPU the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trireme::comm {

// To 16 bits: nearest, ties to even; what is too large becomes infinite, NaN stays NaN.
struct Reductions {
  void (*add_f32)(float* sum, const float* a, const float* b, std::size_t count) = nullptr;
  void (*add_f64)(double* sum, const double* a, const double* b, std::size_t count) = nullptr;
  void (*to_bf16)(std::uint16_t* out, const float* in, std::size_t count) = nullptr;
  void (*from_bf16)(float* out, const std::uint16_t* in, std::size_t count) = nullptr;
  void (*add_bf16)(std::uint16_t* sum, const std::uint16_t* a, const std::uint16_t* b, std::size_t count) = nullptr;
  void (*to_f16)(std::uint16_t* out, const float* in, std::size_t count) = nullptr;
  void (*from_f16)(float* out, const std::uint16_t* in, std::size_t count) = nullptr;
  void (*add_f16)(std::uint16_t* sum, const std::uint16_t* a, const std::uint16_t* b, std::size_t count) = nullptr;
  void (*add_bf16_to_f32)(float* sum, const std::uint16_t* more, std::size_t count) = nullptr;
  void (*add_f16_to_f32)(float* sum, const std::uint16_t* more, std::size_t count) = nullptr;
};

namespace avx512 {
Reductions reductions();
}
namespace avx2 {
Reductions reductions();
}
namespace generic {
Reductions reductions();
}

// Those for this CPU.
const Reductions& reductions();

}  // namespace trireme::comm
