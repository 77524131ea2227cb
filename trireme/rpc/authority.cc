// SPDX-License-Identifier: Apache-2.0
// Makes a job's certificate authority and issues certificates by OpenSSL.
#include "trireme/rpc/authority.h"

#include <openssl/rand.h>

#include <cmath>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/rpc/derived_key.h"
#include "trireme/rpc/openssl.h"

namespace trireme::rpc {
namespace {

constexpr std::size_t kLeastSecret = 16;
constexpr int kSerialBits = 127;
constexpr Seconds kAuthorityValidity{10 * 365.25 * 86400};  // it is forgotten long before; what counts is what it issues
constexpr double kSecondsPerDay = 86400;

using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

// `value` is a constant of this file: OpenSSL's little language must not meet foreign text.
void add_extension(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension = checked(Extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value)), "make an extension");
  check_openssl(X509_add_ext(certificate, extension.get(), -1) == 1, "add an extension");
}

void set_random_serial(X509* certificate) {
  const Number number = checked(Number(BN_new()), "make a number");
  check_openssl(BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                    BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr,
                "choose a serial number");
}

void set_time(ASN1_TIME* time, Seconds from_now) {
  const double days = std::trunc(from_now.count() / kSecondsPerDay);
  const auto rest = static_cast<long>(from_now.count() - days * kSecondsPerDay);
  check_openssl(X509_time_adj_ex(time, static_cast<int>(days), rest, nullptr) != nullptr, "compute a date");
}

void set_common_name(X509_NAME* name, const std::string& text) {
  check_openssl(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
                                           static_cast<int>(text.size()), -1, 0) == 1,
                "name a certificate");
}

Certificate blank_certificate(EVP_PKEY* key, Seconds validity, Seconds slack) {
  Certificate certificate = checked(Certificate(X509_new()), "make a certificate");
  check_openssl(X509_set_version(certificate.get(), X509_VERSION_3) == 1 && X509_set_pubkey(certificate.get(), key) == 1,
                "fill a certificate");
  set_random_serial(certificate.get());
  set_time(X509_getm_notBefore(certificate.get()), -Authority::kClockSlack);
  set_time(X509_getm_notAfter(certificate.get()), validity + slack);
  return certificate;
}

// Depends on the key only: authorities from the same secret have the same name, those of two jobs don't.
std::string name_of_authority(const EVP_PKEY* key) {
  unsigned char* bytes = nullptr;
  const int length = i2d_PUBKEY(key, &bytes);
  check_openssl(length > 0, "write a public key");
  const std::string digest = digest_of(Digest::Kind::sha256, {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)});
  OPENSSL_free(bytes);
  return "Trireme job " + digest.substr(0, 16);
}

Certificate own_certificate(EVP_PKEY* key) {
  Certificate certificate = blank_certificate(key, kAuthorityValidity, Authority::kClockSlack);
  set_common_name(X509_get_subject_name(certificate.get()), name_of_authority(key));
  check_openssl(X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get())) == 1, "name an issuer");
  add_extension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(certificate.get(), certificate.get(), NID_key_usage, "critical,keyCertSign");
  add_extension(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash");
  check_openssl(X509_sign(certificate.get(), key, EVP_sha256()) > 0, "sign a certificate");
  return certificate;
}

void add_text_name(GENERAL_NAMES* names, int type, const std::string& text) {
  ASN1_IA5STRING* value = ASN1_IA5STRING_new();
  check_openssl(value != nullptr && ASN1_STRING_set(value, text.data(), static_cast<int>(text.size())) == 1, "write a name");
  GENERAL_NAME* name = GENERAL_NAME_new();
  GENERAL_NAME_set0_value(name, type, value);
  check_openssl(sk_GENERAL_NAME_push(names, name) > 0, "add a name");
}

void add_host(GENERAL_NAMES* names, const std::string& host) {
  ASN1_OCTET_STRING* address = a2i_IPADDRESS(host.c_str());
  if (address == nullptr) return add_text_name(names, GEN_DNS, host);
  GENERAL_NAME* name = GENERAL_NAME_new();
  GENERAL_NAME_set0_value(name, GEN_IPADD, address);
  check_openssl(sk_GENERAL_NAME_push(names, name) > 0, "add an address");
}

void add_names(X509* certificate, const Identity& identity, const std::vector<std::string>& hosts) {
  const Names names = checked(Names(GENERAL_NAMES_new()), "make a list of names");
  add_text_name(names.get(), GEN_URI, address_of(identity));
  for (const std::string& host : hosts) add_host(names.get(), host);
  check_openssl(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) == 1, "add names to a certificate");
}

}  // namespace

struct Authority::State {
  explicit State(Key with) : key(std::move(with)), certificate(own_certificate(key.get())), text(pem_of(certificate.get())) {}

  Key key;
  Certificate certificate;
  std::string text;
};

Authority::Authority(std::unique_ptr<State> state) : state_(std::move(state)) {}
Authority::~Authority() = default;
Authority::Authority(Authority&&) noexcept = default;
Authority& Authority::operator=(Authority&&) noexcept = default;

Authority Authority::create() { return Authority(std::make_unique<State>(random_key())); }

Authority Authority::from_secret(std::string_view secret) {
  if (secret.size() < kLeastSecret)
    throw Error{invalid_argument, "a job's secret must have at least {} bytes; this one has {}", kLeastSecret, secret.size()};
  return Authority(std::make_unique<State>(derived_key(secret)));
}

Credentials Authority::issue(const Identity& identity, const std::vector<std::string>& hosts, Seconds validity, Seconds slack) const {
  const Key key = random_key();
  const Certificate certificate = blank_certificate(key.get(), validity, slack);
  X509* const issuer = state_->certificate.get();
  set_common_name(X509_get_subject_name(certificate.get()), identity.role);
  check_openssl(X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer)) == 1, "name an issuer");
  add_extension(certificate.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(certificate.get(), issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(certificate.get(), issuer, NID_authority_key_identifier, "keyid");
  add_names(certificate.get(), identity, hosts);
  check_openssl(X509_sign(certificate.get(), state_->key.get(), EVP_sha256()) > 0, "sign a certificate");
  return {.authority = state_->text, .certificate = pem_of(certificate.get()), .key = pem_of(key.get())};
}

const std::string& Authority::certificate() const { return state_->text; }

}  // namespace trireme::rpc
