// SPDX-License-Identifier: Apache-2.0
// OpenSSL's GCM, given nothing to encrypt.
#include "trireme/base/message_seal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "trireme/base/error.h"

namespace trireme {
namespace {

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kMaxAtOnce = std::size_t{1} << 30;  // OpenSSL counts in int

}  // namespace

struct MessageSeal::State {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  std::uint64_t messages = 0;

  State() = default;
  ~State() { EVP_CIPHER_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The number of the message is its nonce: a message that is missing, repeated or out of place has the wrong tag.
  void begin() {
    std::array<unsigned char, kNonceBytes> nonce{};
    std::memcpy(nonce.data(), &messages, sizeof messages);
    ++messages;
    ensure(EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) == 1, "GMAC takes a nonce");
  }

  // Both change what `context` points to.
  // NOLINTBEGIN(readability-make-member-function-const)
  void add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min(bytes.size(), kMaxAtOnce));
      int length = 0;
      const int done = EVP_EncryptUpdate(context, nullptr, &length, reinterpret_cast<const unsigned char*>(piece.data()),
                                         static_cast<int>(piece.size()));
      ensure(done == 1, "GMAC takes bytes");
      bytes = bytes.subspan(piece.size());
    }
  }

  Tag end() {
    Tag tag{};
    int length = 0;
    std::array<unsigned char, kTagBytes> nothing{};
    ensure(EVP_EncryptFinal_ex(context, nothing.data(), &length) == 1 &&
               EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, static_cast<int>(tag.size()), tag.data()) == 1,
           "GMAC gives a tag");
    return tag;
  }
  // NOLINTEND(readability-make-member-function-const)
};

MessageSeal::MessageSeal(std::string_view key) : state_(std::make_unique<State>()) {
  ensure(key.size() == kKeyBytes, "a seal's key has 16 bytes");
  const int done =
      EVP_EncryptInit_ex(state_->context, EVP_aes_128_gcm(), nullptr, reinterpret_cast<const unsigned char*>(key.data()), nullptr);
  if (done != 1) throw Error{unimplemented, "OpenSSL on this machine refuses AES-128-GCM"};
}
MessageSeal::~MessageSeal() = default;
MessageSeal::MessageSeal(MessageSeal&&) noexcept = default;
MessageSeal& MessageSeal::operator=(MessageSeal&&) noexcept = default;

MessageSeal::Tag MessageSeal::next(std::span<const std::byte> head, std::span<const std::byte> content) {
  state_->begin();
  state_->add(head);
  state_->add(content);
  return state_->end();
}

bool MessageSeal::equal(const Tag& a, const Tag& b) { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

}  // namespace trireme
