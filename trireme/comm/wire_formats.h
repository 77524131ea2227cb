// SPDX-License-Identifier: Apache-2.0
// How values look on the wire, for code that sums them: each format encodes, decodes and adds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "trireme/comm/reduction.h"

namespace trireme::comm {

// As they are in memory: sent from there and received there.
template <class T, auto Reductions::*kAdd>
struct PlainFormat {
  using Value = T;
  using Element = T;
  static constexpr bool kEncodes = false;

  static void encode(Element* out, const Value* in, std::size_t count) { std::copy_n(in, count, out); }
  static void decode(Value* out, const Element* in, std::size_t count) { std::copy_n(in, count, out); }
  static void add(Value* sum, const Element* more, std::size_t count) { (reductions().*kAdd)(sum, sum, more, count); }
};

using F32Format = PlainFormat<float, &Reductions::add_f32>;
using F64Format = PlainFormat<double, &Reductions::add_f64>;

template <auto Reductions::*kEncode, auto Reductions::*kDecode, auto Reductions::*kAdd>
struct HalfFormat {
  using Value = float;
  using Element = std::uint16_t;
  static constexpr bool kEncodes = true;

  static void encode(Element* out, const Value* in, std::size_t count) { (reductions().*kEncode)(out, in, count); }
  static void decode(Value* out, const Element* in, std::size_t count) { (reductions().*kDecode)(out, in, count); }
  static void add(Value* sum, const Element* more, std::size_t count) { (reductions().*kAdd)(sum, more, count); }
};

using Bf16Format = HalfFormat<&Reductions::to_bf16, &Reductions::from_bf16, &Reductions::add_bf16_to_f32>;
using F16Format = HalfFormat<&Reductions::to_f16, &Reductions::from_f16, &Reductions::add_f16_to_f32>;

}  // namespace trireme::comm
