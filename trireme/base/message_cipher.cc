// SPDX-License-Identifier: Apache-2.0
// OpenSSL's GCM, fed as bytes come.
#include "trireme/base/message_cipher.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "trireme/base/error.h"

namespace trireme {
namespace {

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kMaxUpdateBytes = std::size_t{1} << 30;  // OpenSSL counts in int

const unsigned char* bytes_of(std::span<const std::byte> span) { return reinterpret_cast<const unsigned char*>(span.data()); }

}  // namespace

struct MessageCipher::State {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  Direction direction;
  std::uint64_t messages = 0;

  explicit State(Direction wanted) : direction(wanted) {}
  ~State() { EVP_CIPHER_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  int flag() const { return direction == Direction::encrypt ? 1 : 0; }

  // A null `to` is for what is only covered by the tag.
  void update(std::span<const std::byte> from, std::byte* to) const {
    while (!from.empty()) {
      const auto piece = from.first(std::min(from.size(), kMaxUpdateBytes));
      int length = 0;
      const int done =
          EVP_CipherUpdate(context, reinterpret_cast<unsigned char*>(to), &length, bytes_of(piece), static_cast<int>(piece.size()));
      ensure(done == 1, "GCM takes bytes");
      from = from.subspan(piece.size());
      if (to != nullptr) to += piece.size();
    }
  }
};

MessageCipher::MessageCipher(std::string_view key, Direction direction) : state_(std::make_unique<State>(direction)) {
  ensure(key.size() == MessageSeal::kKeyBytes, "a cipher's key has 16 bytes");
  const int done = EVP_CipherInit_ex(state_->context, EVP_aes_128_gcm(), nullptr, reinterpret_cast<const unsigned char*>(key.data()),
                                     nullptr, state_->flag());
  if (done != 1) throw Error{unimplemented, "OpenSSL on this machine refuses AES-128-GCM"};
}
MessageCipher::~MessageCipher() = default;
MessageCipher::MessageCipher(MessageCipher&&) noexcept = default;
MessageCipher& MessageCipher::operator=(MessageCipher&&) noexcept = default;

void MessageCipher::begin(std::span<const std::byte> head) {
  std::array<unsigned char, kNonceBytes> nonce{};
  std::memcpy(nonce.data(), &state_->messages, sizeof state_->messages);
  ++state_->messages;
  ensure(EVP_CipherInit_ex(state_->context, nullptr, nullptr, nullptr, nonce.data(), state_->flag()) == 1, "GCM takes a nonce");
  state_->update(head, nullptr);
}

void MessageCipher::add(std::span<const std::byte> from, std::byte* to) { state_->update(from, to); }

MessageCipher::Tag MessageCipher::end() {
  Tag tag{};
  int length = 0;
  std::array<unsigned char, MessageSeal::kTagBytes> nothing{};
  ensure(EVP_CipherFinal_ex(state_->context, nothing.data(), &length) == 1 &&
             EVP_CIPHER_CTX_ctrl(state_->context, EVP_CTRL_GCM_GET_TAG, static_cast<int>(tag.size()), tag.data()) == 1,
         "GCM gives a tag");
  return tag;
}

bool MessageCipher::is_genuine(const Tag& tag) {
  int length = 0;
  std::array<unsigned char, MessageSeal::kTagBytes> nothing{};
  Tag expected = tag;  // OpenSSL takes it by a pointer that is not const
  ensure(EVP_CIPHER_CTX_ctrl(state_->context, EVP_CTRL_GCM_SET_TAG, static_cast<int>(expected.size()), expected.data()) == 1,
         "GCM takes a tag");
  return EVP_CipherFinal_ex(state_->context, nothing.data(), &length) == 1;  // compares in constant time
}

}  // namespace trireme
