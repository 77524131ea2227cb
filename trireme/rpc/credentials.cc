// SPDX-License-Identifier: Apache-2.0
// Identities in and out of certificates.
#include "trireme/rpc/credentials.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/rpc/openssl.h"

namespace trireme::rpc {
namespace {

constexpr std::string_view kScheme = "trireme://";
constexpr std::size_t kMaxPart = 200;

bool is_part(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= kMaxPart && std::ranges::all_of(text, allowed);
}

}  // namespace

std::string address_of(const Identity& identity) {
  if (!is_part(identity.role) || !is_part(identity.name))
    throw Error{invalid_argument, "a {} can't be named '{}': a name has only letters, digits, '.', '_' and '-'", identity.role,
                identity.name};
  return fmt::format("{}{}/{}", kScheme, identity.role, identity.name);
}

Identity identity_of_address(std::string_view address) {
  const auto fail = [&] { throw Error{unauthenticated, "'{}' in a certificate is not trireme://<role>/<name>", address}; };
  if (!address.starts_with(kScheme)) fail();
  const std::string_view rest = address.substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos || !is_part(rest.substr(0, slash)) || !is_part(rest.substr(slash + 1))) fail();
  return {.role = std::string(rest.substr(0, slash)), .name = std::string(rest.substr(slash + 1))};
}

Identity identity_of_certificate(const std::string& certificate) {
  const Certificate parsed = certificate_of_pem(certificate);
  const Names names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(parsed.get(), NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* text = name->d.uniformResourceIdentifier;
    return identity_of_address(
        {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text))});
  }
  throw Error{unauthenticated, "a certificate names neither a coordinator nor a node: it was not made for a Trireme job"};
}

}  // namespace trireme::rpc
