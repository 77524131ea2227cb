// SPDX-License-Identifier: Apache-2.0
// Keys of the curve P-256, random or out of a secret.
#include "trireme/rpc/derived_key.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>

#include <array>
#include <string>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::rpc {
namespace {

using Curve = std::unique_ptr<EC_GROUP, Freed<EC_GROUP_free>>;
using Point = std::unique_ptr<EC_POINT, Freed<EC_POINT_free>>;
using Context = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using Derivation = std::unique_ptr<EVP_KDF, Freed<EVP_KDF_free>>;
using DerivationContext = std::unique_ptr<EVP_KDF_CTX, Freed<EVP_KDF_CTX_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;

constexpr std::string_view kCurve = "P-256";
constexpr std::string_view kPurpose = "trireme job authority 1";
// 128 bits more than the curve's order has, so that the remainder is as good as uniform.
constexpr std::size_t kDerivedBytes = 48;

std::array<unsigned char, kDerivedBytes> derive(std::string_view secret) {
  const auto text = [](const char* name, std::string_view value) {
    return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(value.data()), value.size());
  };
  std::string digest = "SHA256";
  const std::array parameters = {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
                                 text(OSSL_KDF_PARAM_KEY, secret), text(OSSL_KDF_PARAM_INFO, kPurpose), OSSL_PARAM_construct_end()};
  const auto hkdf = checked(Derivation(EVP_KDF_fetch(nullptr, "HKDF", nullptr)), "find HKDF");
  const auto context = checked(DerivationContext(EVP_KDF_CTX_new(hkdf.get())), "start HKDF");
  std::array<unsigned char, kDerivedBytes> out{};
  check_openssl(EVP_KDF_derive(context.get(), out.data(), out.size(), parameters.data()) == 1, "derive a key");
  return out;
}

// A private number in [1, order).
Number private_number(const EC_GROUP* curve, std::string_view secret) {
  auto bytes = derive(secret);
  Number number = checked(Number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr)), "make a number");
  OPENSSL_cleanse(bytes.data(), bytes.size());
  const Number bound = checked(Number(BN_dup(EC_GROUP_get0_order(curve))), "copy a number");
  const std::unique_ptr<BN_CTX, Freed<BN_CTX_free>> scratch(BN_CTX_new());
  check_openssl(BN_sub_word(bound.get(), 1) == 1 && BN_nnmod(number.get(), number.get(), bound.get(), scratch.get()) == 1 &&
                    BN_add_word(number.get(), 1) == 1,
                "reduce a number");
  return number;
}

std::vector<unsigned char> public_point(const EC_GROUP* curve, const BIGNUM* number) {
  const Point point = checked(Point(EC_POINT_new(curve)), "make a point");
  check_openssl(EC_POINT_mul(curve, point.get(), number, nullptr, nullptr, nullptr) == 1, "compute a public key");
  std::vector<unsigned char> out(EC_POINT_point2oct(curve, point.get(), POINT_CONVERSION_UNCOMPRESSED, nullptr, 0, nullptr));
  EC_POINT_point2oct(curve, point.get(), POINT_CONVERSION_UNCOMPRESSED, out.data(), out.size(), nullptr);
  return out;
}

}  // namespace

Key random_key() { return checked(Key(EVP_EC_gen(kCurve.data())), "make a key"); }

Key derived_key(std::string_view secret) {
  const Curve curve = checked(Curve(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)), "find the curve P-256");
  const Number number = private_number(curve.get(), secret);
  const auto point = public_point(curve.get(), number.get());

  const Builder builder = checked(Builder(OSSL_PARAM_BLD_new()), "describe a key");
  check_openssl(OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, kCurve.data(), 0) == 1 &&
                    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get()) == 1 &&
                    OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) == 1,
                "describe a key");
  const Parameters parameters = checked(Parameters(OSSL_PARAM_BLD_to_param(builder.get())), "describe a key");
  const Context context = checked(Context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr)), "make a key");
  EVP_PKEY* key = nullptr;
  check_openssl(
      EVP_PKEY_fromdata_init(context.get()) == 1 && EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters.get()) == 1,
      "make a key");
  return Key(key);
}

}  // namespace trireme::rpc
