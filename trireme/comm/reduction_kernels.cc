// SPDX-License-Identifier: Apache-2.0
// The sums and conversions, compiled once per instruction set (TRIREME_ISA); includes nothing that could leak instructions into other
// files.
#include "trireme/comm/reduction.h"

// Plain loops without branches, left to the vectoriser; f16 in integer arithmetic, because not every CPU converts it.
// ivdep: `sum` may be `a` itself, which the vectoriser would otherwise take for an overlap and stay scalar.
#pragma GCC diagnostic ignored "-Wunknown-pragmas"  // clang-tidy doesn't know ivdep

namespace trireme::comm::TRIREME_ISA {
namespace {

[[gnu::always_inline]] inline std::uint16_t bf16_of(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
  const std::uint32_t quiet_nan = (bits >> 16U) | 0x40U;
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet_nan : rounded);
}

[[gnu::always_inline]] inline float f32_of_bf16(std::uint16_t value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value) << 16U);
}

[[gnu::always_inline]] inline std::uint16_t f16_of(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // Exponent bias 127 -> 15, and half a unit minus the bit that makes ties even.
  const std::uint32_t normal = (magnitude - (112U << 23U) + 0xfffU + ((magnitude >> 13U) & 1U)) >> 13U;
  // Below 2^-14 the addition of 0.5 itself rounds to f16's smallest unit, 2^-24.
  const std::uint32_t small = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) + 0.5F) - 0x3f000000U;
  std::uint32_t out = magnitude < 0x38800000U ? small : normal;
  out = magnitude >= 0x47800000U ? 0x7c00U : out;
  out = magnitude > 0x7f800000U ? 0x7e00U : out;
  return static_cast<std::uint16_t>(out | ((bits >> 16U) & 0x8000U));
}

[[gnu::always_inline]] inline float f32_of_f16(std::uint16_t value) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(value & 0x7fffU) << 13U;
  const std::uint32_t normal = magnitude + (112U << 23U);
  // A mantissa without its leading one: put it behind 2^-14 and take that away again.
  const float small = __builtin_bit_cast(float, magnitude | (113U << 23U)) - __builtin_bit_cast(float, 113U << 23U);
  std::uint32_t out = magnitude < (1U << 23U) ? __builtin_bit_cast(std::uint32_t, small) : normal;
  out = magnitude >= (31U << 23U) ? magnitude | 0x7f800000U : out;
  return __builtin_bit_cast(float, out | (static_cast<std::uint32_t>(value & 0x8000U) << 16U));
}

void add_f32(float* sum, const float* a, const float* b, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

void add_f64(double* sum, const double* a, const double* b, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

void to_bf16(std::uint16_t* out, const float* in, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) out[i] = bf16_of(in[i]);
}

void from_bf16(float* out, const std::uint16_t* in, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) out[i] = f32_of_bf16(in[i]);
}

void add_bf16(std::uint16_t* sum, const std::uint16_t* a, const std::uint16_t* b, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) sum[i] = bf16_of(f32_of_bf16(a[i]) + f32_of_bf16(b[i]));
}

void to_f16(std::uint16_t* out, const float* in, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) out[i] = f16_of(in[i]);
}

void from_f16(float* out, const std::uint16_t* in, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) out[i] = f32_of_f16(in[i]);
}

void add_f16(std::uint16_t* sum, const std::uint16_t* a, const std::uint16_t* b, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) sum[i] = f16_of(f32_of_f16(a[i]) + f32_of_f16(b[i]));
}

void add_bf16_to_f32(float* sum, const std::uint16_t* more, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) sum[i] += f32_of_bf16(more[i]);
}

void add_f16_to_f32(float* sum, const std::uint16_t* more, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) sum[i] += f32_of_f16(more[i]);
}

}  // namespace

Reductions reductions() {
  return {.add_f32 = add_f32,
          .add_f64 = add_f64,
          .to_bf16 = to_bf16,
          .from_bf16 = from_bf16,
          .add_bf16 = add_bf16,
          .to_f16 = to_f16,
          .from_f16 = from_f16,
          .add_f16 = add_f16,
          .add_bf16_to_f32 = add_bf16_to_f32,
          .add_f16_to_f32 = add_f16_to_f32};
}

}  // namespace trireme::comm::TRIREME_ISA
