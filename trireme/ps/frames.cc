// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes the fixed head of a frame.
#include "trireme/ps/frames.h"

#include <bit>
#include <span>
#include <type_traits>

namespace trireme::ps {

static_assert(std::is_trivially_copyable_v<Frame>);
static_assert(sizeof(Frame) == 4 * 4 + 18 * 8, "a hole would send what lies in it");
static_assert(std::endian::native == std::endian::little);

std::string head_of(const Frame& frame) { return {reinterpret_cast<const char*>(&frame), sizeof frame}; }

Frame frame_of(const rpc::Incoming& message) {
  if (message.size() < kFrameBytes) throw Error{data_loss, "a frame has {} bytes, not {}", message.size(), kFrameBytes};
  Frame frame;
  message.copy(0, std::as_writable_bytes(std::span{&frame, 1}));
  if (frame.kind < Kind::hello || frame.kind > Kind::noted)
    throw Error{data_loss, "there is no frame of kind {}", static_cast<std::uint32_t>(frame.kind)};
  return frame;
}

}  // namespace trireme::ps
