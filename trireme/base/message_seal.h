// SPDX-License-Identifier: Apache-2.0
// Tags by which the reader of a connection knows that each message is its writer's, whole, and in its place (AES-128-GMAC).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace trireme {

// Both ends have one for each direction, and seal every message in the order in which it is sent.
class MessageSeal {
 public:
  static constexpr std::size_t kKeyBytes = 16;
  static constexpr std::size_t kTagBytes = 16;
  using Tag = std::array<std::byte, kTagBytes>;

  // A key must never be used for a second seal: the tags of a pair would reveal it.
  explicit MessageSeal(std::string_view key);
  ~MessageSeal();
  MessageSeal(MessageSeal&&) noexcept;
  MessageSeal& operator=(MessageSeal&&) noexcept;

  // Of the next message, given in two pieces.
  Tag next(std::span<const std::byte> head, std::span<const std::byte> content);
  static bool equal(const Tag& a, const Tag& b);  // in constant time

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme
