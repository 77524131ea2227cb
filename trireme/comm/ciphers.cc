// SPDX-License-Identifier: Apache-2.0
// Which bytes of a message pass the cipher when.
#include "trireme/comm/ciphers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace trireme::comm {
namespace {

// Small enough to be in the cache when the kernel copies it, large enough that a system call costs little beside it.
constexpr std::size_t kChunkBytes = 128 << 10;

}  // namespace

std::span<const std::byte> SendingCipher::pending(const WireMessage& message) {
  if (begin_ == end_) refill(message);
  return std::span(buffer_).subspan(begin_, end_ - begin_);
}

void SendingCipher::refill(const WireMessage& message) {
  const auto append = [this](std::span<const std::byte> bytes) {
    std::memcpy(buffer_.data() + end_, bytes.data(), bytes.size());
    end_ += bytes.size();
  };
  buffer_.resize(message.header.size() + kChunkBytes + sizeof(MessageCipher::Tag));
  begin_ = end_ = 0;
  if (!std::exchange(in_message_, true)) {
    cipher_.begin(message.covered);
    append(message.header);
    encrypted_ = 0;
  }
  const auto chunk = message.contents.subspan(encrypted_, std::min(kChunkBytes, message.contents.size() - encrypted_));
  cipher_.add(chunk, buffer_.data() + end_);
  end_ += chunk.size();
  encrypted_ += chunk.size();
  if (encrypted_ < message.contents.size()) return;
  append(cipher_.end());
  in_message_ = false;
}

void ReceivingCipher::decrypt(std::span<const std::byte> covered, std::byte* contents, std::size_t arrived) {
  if (!std::exchange(in_message_, true)) {
    cipher_.begin(covered);
    decrypted_ = 0;
  }
  cipher_.add({contents + decrypted_, arrived - decrypted_}, contents + decrypted_);
  decrypted_ = arrived;
}

bool ReceivingCipher::is_genuine(const MessageCipher::Tag& tag) {
  in_message_ = false;
  return cipher_.is_genuine(tag);
}

}  // namespace trireme::comm
