// SPDX-License-Identifier: Apache-2.0
// How values look on the wire, for code that sums them: each format encodes, decodes and adds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "trireme/comm/reduction.h"

namespace trireme::comm {

// As they are in memory: sent from there and received there.
template <class T, void (*kAdd)(T*, const T*, const T*, std::size_t)>
struct PlainFormat {
  using Value = T;
  using Element = T;
  static constexpr bool kEncodes = false;

  static void encode(Element* out, const Value* in, std::size_t count) { std::copy_n(in, count, out); }
  static void decode(Value* out, const Element* in, std::size_t count) { std::copy_n(in, count, out); }
  static void add(Value* sum, const Element* more, std::size_t count) { kAdd(sum, sum, more, count); }
};

using F32Format = PlainFormat<float, add_f32>;
using F64Format = PlainFormat<double, add_f64>;

template <void (*kEncode)(std::uint16_t*, const float*, std::size_t), void (*kDecode)(float*, const std::uint16_t*, std::size_t),
          void (*kAdd)(float*, const std::uint16_t*, std::size_t)>
struct HalfFormat {
  using Value = float;
  using Element = std::uint16_t;
  static constexpr bool kEncodes = true;

  static void encode(Element* out, const Value* in, std::size_t count) { kEncode(out, in, count); }
  static void decode(Value* out, const Element* in, std::size_t count) { kDecode(out, in, count); }
  static void add(Value* sum, const Element* more, std::size_t count) { kAdd(sum, more, count); }
};

using Bf16Format = HalfFormat<to_bf16, from_bf16, add_bf16_to_f32>;
using F16Format = HalfFormat<to_f16, from_f16, add_f16_to_f32>;

}  // namespace trireme::comm
