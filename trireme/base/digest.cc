// SPDX-License-Identifier: Apache-2.0
// Digests, message authentication codes and random bytes by OpenSSL.
#include "trireme/base/digest.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme {
namespace {

const EVP_MD* algorithm(Digest::Kind kind) {
  switch (kind) {
    case Digest::Kind::md5:
      return EVP_md5();
    case Digest::Kind::sha256:
      return EVP_sha256();
    case Digest::Kind::sha512:
      return EVP_sha512();
  }
  return nullptr;
}

}  // namespace

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() = default;
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Digest::Digest(Kind kind) : state_(std::make_unique<State>()) {
  if (EVP_DigestInit_ex(state_->context, algorithm(kind), nullptr) != 1)
    throw Error{unimplemented, "OpenSSL on this machine refuses a checksum algorithm"};
}
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::add(std::string_view bytes) {
  ensure(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1, "a digest takes bytes until it is read");
}

std::string Digest::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned length = 0;
  ensure(EVP_DigestFinal_ex(state_->context, bytes.data(), &length) == 1, "a digest is read once");
  std::string out;
  for (unsigned i = 0; i < length; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

std::string digest_of(Digest::Kind kind, std::string_view bytes) {
  Digest digest(kind);
  digest.add(bytes);
  return digest.hex();
}

std::string digest_of_file(Digest::Kind kind, const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error{not_found, "cannot read {}: {}", path.string(), std::strerror(errno)};
  Digest digest(kind);
  std::vector<char> piece(1 << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0)
    digest.add({piece.data(), static_cast<std::size_t>(in.gcount())});
  if (in.bad()) throw SystemError{unavailable, "cannot read {}: {}", path.string(), std::strerror(errno)};
  return digest.hex();
}

namespace {

const unsigned char* raw(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }
unsigned char* raw(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string out(32, '\0');
  unsigned length = 0;
  const auto* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), raw(message), message.size(), raw(out), &length);
  if (made == nullptr || length != out.size()) throw Error{unimplemented, "OpenSSL on this machine refuses HMAC with SHA-256"};
  return out;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_bytes(std::size_t count) {
  std::string out(count, '\0');
  if (RAND_bytes(raw(out), static_cast<int>(count)) != 1) throw SystemError{unavailable, "OpenSSL has no random bytes to give"};
  return out;
}

void wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

}  // namespace trireme
