// SPDX-License-Identifier: Apache-2.0
// Messages of a connection that only its two ends can read, piece by piece, each with a tag as MessageSeal's (AES-128-GCM).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "trireme/base/message_seal.h"

namespace trireme {

// Both ends have one for each direction, and handle every message in the order in which it is sent: its number is its nonce.
class MessageCipher {
 public:
  enum class Direction { encrypt, decrypt };
  using Tag = MessageSeal::Tag;
  // GCM's limit for one nonce is 64 GiB - 32 bytes.
  static constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 35;

  // A key must never be used for a second cipher, nor for a seal: two messages with the same nonce would reveal their difference.
  MessageCipher(std::string_view key, Direction direction);
  ~MessageCipher();
  MessageCipher(MessageCipher&&) noexcept;
  MessageCipher& operator=(MessageCipher&&) noexcept;

  void begin(std::span<const std::byte> head);  // the next message; its head is not encrypted, but the tag is over it, too
  // `to` has room for as many bytes, and may be `from`. What was decrypted must not be used before `is_genuine`.
  void add(std::span<const std::byte> from, std::byte* to);
  Tag end();                        // encrypting: the message's tag
  bool is_genuine(const Tag& tag);  // decrypting: whether head and contents are the sender's, and in their place

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme
