// SPDX-License-Identifier: Apache-2.0
// OpenSSL's objects in and out of PEM texts.
#include "trireme/rpc/openssl.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>

#include "trireme/base/error.h"

namespace trireme::rpc {
namespace {

Memory empty_memory() { return checked(Memory(BIO_new(BIO_s_mem())), "make room for a text"); }

std::string content_of(const Memory& memory) {
  char* begin = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &begin);
  return {begin, static_cast<std::size_t>(length)};
}

}  // namespace

void check_openssl(bool done, std::string_view action) {
  if (done) return;
  std::array<char, 256> reason{};
  ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
  throw Error{internal, "OpenSSL cannot {}: {}", action, reason.data()};
}

std::string pem_of(const X509* certificate) {
  const Memory memory = empty_memory();
  check_openssl(PEM_write_bio_X509(memory.get(), const_cast<X509*>(certificate)) == 1, "write a certificate");
  return content_of(memory);
}

std::string pem_of(const EVP_PKEY* key) {
  const Memory memory = empty_memory();
  check_openssl(PEM_write_bio_PrivateKey(memory.get(), const_cast<EVP_PKEY*>(key), nullptr, nullptr, 0, nullptr, nullptr) == 1,
                "write a key");
  return content_of(memory);
}

Certificate certificate_of_pem(const std::string& text) {
  const Memory memory = checked(Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))), "read a certificate");
  return checked(Certificate(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr)), "read a certificate");
}

}  // namespace trireme::rpc
