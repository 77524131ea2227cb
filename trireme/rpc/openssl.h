// SPDX-License-Identifier: Apache-2.0
// OpenSSL's objects as owners, and its failures as errors.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

namespace trireme::rpc {

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};

using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_clear_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;
using Memory = std::unique_ptr<BIO, Freed<BIO_free>>;

// `done` is what an OpenSSL function returned; if that means failure, throws internal with the library's reason.
void check_openssl(bool done, std::string_view action);
template <class Owner>
Owner checked(Owner owner, std::string_view action) {
  check_openssl(owner != nullptr, action);
  return owner;
}

std::string pem_of(const X509* certificate);
std::string pem_of(const EVP_PKEY* key);
Certificate certificate_of_pem(const std::string& text);

}  // namespace trireme::rpc
