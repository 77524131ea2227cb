// SPDX-License-Identifier: Apache-2.0
// Conversions in blocks that stay in the first-level cache.
#include "trireme/ps/values.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "trireme/comm/reduction.h"
#include "trireme/ps/frames.h"

namespace trireme::ps {
namespace {

constexpr std::size_t kBlock = 4096;

auto encoder(comm::WireType wire) { return wire == comm::WireType::bf16 ? comm::reductions().to_bf16 : comm::reductions().to_f16; }

auto decoder(comm::WireType wire) { return wire == comm::WireType::bf16 ? comm::reductions().from_bf16 : comm::reductions().from_f16; }

}  // namespace

std::size_t wire_bytes(comm::WireType wire, std::int64_t count) {
  return static_cast<std::size_t>(count) * (wire == comm::WireType::f32 ? sizeof(float) : sizeof(std::uint16_t));
}

void encode(std::span<const float> values, comm::WireType wire, std::span<std::byte> to) {
  ensure(to.size() == wire_bytes(wire, static_cast<std::int64_t>(values.size())), "values and their bytes differ in length");
  if (wire == comm::WireType::f32) {
    if (!values.empty()) std::memcpy(to.data(), values.data(), values.size_bytes());
    return;
  }
  encoder(wire)(reinterpret_cast<std::uint16_t*>(to.data()), values.data(), values.size());
}

void decode(const rpc::Incoming& message, comm::WireType wire, std::span<float> to) {
  const std::size_t expected = kFrameBytes + wire_bytes(wire, static_cast<std::int64_t>(to.size()));
  if (message.size() != expected)
    throw Error{data_loss, "a message with {} values has {} bytes, not {}", to.size(), message.size(), expected};
  if (wire == comm::WireType::f32) return message.copy(kFrameBytes, std::as_writable_bytes(to));
  std::array<std::uint16_t, kBlock> block;
  for (std::size_t done = 0; done < to.size(); done += kBlock) {
    const std::span part = std::span{block}.first(std::min(kBlock, to.size() - done));
    message.copy(kFrameBytes + done * sizeof(std::uint16_t), std::as_writable_bytes(part));
    decoder(wire)(to.data() + done, part.data(), part.size());
  }
}

}  // namespace trireme::ps
