// SPDX-License-Identifier: Apache-2.0
// The two directions of an encrypted connection: contents are encrypted on their way into a buffer that is kept, and decrypted where they
// arrive.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "trireme/base/message_cipher.h"

namespace trireme::comm {

// A message as it stands on the wire: a header, which is not secret, the contents, and a tag over both.
struct WireMessage {
  std::span<const std::byte> header;   // what is sent of it
  std::span<const std::byte> covered;  // the part of the header that the tag is over
  std::span<const std::byte> contents;
};

class SendingCipher {
 public:
  explicit SendingCipher(std::string_view key) : cipher_(key, MessageCipher::Direction::encrypt) {}

  // What is to be sent next of the message, which must be the same until all of it was sent; never empty.
  std::span<const std::byte> pending(const WireMessage& message);
  void sent(std::size_t bytes) { begin_ += bytes; }

 private:
  void refill(const WireMessage& message);

  MessageCipher cipher_;
  std::vector<std::byte> buffer_;  // allocated once: fresh pages cost more than the cipher
  std::size_t begin_ = 0;          // of what is not sent yet
  std::size_t end_ = 0;
  std::size_t encrypted_ = 0;  // of the contents
  bool in_message_ = false;    // its tag is still to come
};

class ReceivingCipher {
 public:
  explicit ReceivingCipher(std::string_view key) : cipher_(key, MessageCipher::Direction::decrypt) {}

  // Decrypts the contents in place as far as they have arrived; nothing of them may be used before `is_genuine`.
  void decrypt(std::span<const std::byte> covered, std::byte* contents, std::size_t arrived);
  bool is_genuine(const MessageCipher::Tag& tag);  // ends the message

 private:
  MessageCipher cipher_;
  std::size_t decrypted_ = 0;
  bool in_message_ = false;
};

}  // namespace trireme::comm
