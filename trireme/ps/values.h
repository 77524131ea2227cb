// SPDX-License-Identifier: Apache-2.0
// Values as they travel: as they are, or rounded to 16 bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "trireme/comm/communicator.h"
#include "trireme/rpc/bulk.h"

namespace trireme::ps {

std::size_t wire_bytes(comm::WireType wire, std::int64_t count);
void encode(std::span<const float> values, comm::WireType wire, std::span<std::byte> to);
// What follows the frame of the message; throws data_loss if that is not just so many values.
void decode(const rpc::Incoming& message, comm::WireType wire, std::span<float> to);

inline constexpr std::int64_t kPartValues = 1 << 18;

// A piece travels in parts: most in one, but an optimizer that needs whole slices makes pieces that are too large for a message.
template <class Body>
void for_parts(std::int64_t values, const Body& body) {
  for (std::int64_t begin = 0; begin < values; begin += kPartValues) body(begin, std::min(values, begin + kPartValues));
}

}  // namespace trireme::ps
