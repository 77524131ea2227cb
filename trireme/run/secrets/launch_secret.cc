// SPDX-License-Identifier: Apache-2.0
// A secret in a file, and what follows from it.
#include "trireme/run/secrets/launch_secret.h"

#include <fmt/format.h>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/host.h"
#include "trireme/rpc/authority.h"
#include "trireme/run/training/run_records.h"

namespace trireme::run {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr Seconds kValidity{30 * 24 * 3600.0};

}  // namespace

void make_secret_file(const std::filesystem::path& path) {
  make_directories(path.parent_path());
  write_secret_file(path, random_bytes(kSecretBytes));
}

std::string read_secret_file(const std::filesystem::path& path) {
  std::string secret = read_file(path);
  if (secret.size() < 16)
    throw Error{invalid_argument, "{}: a secret has at least 16 bytes; e.g. head -c 32 /dev/urandom > {}", path.string(), path.string()};
  return secret;
}

NodeSecrets secrets_of_rank(std::int64_t rank, const std::string& coordinator, const std::string& secret) {
  return {
      .coordinator = coordinator,
      .credentials = rpc::Authority::from_secret(secret).issue({.role = "node", .name = fmt::format("{}", rank)}, {host_name()}, kValidity),
      .key = hmac_sha256(secret, "collectives"),
      .host = host_name(),
      .slots = 1};
}

}  // namespace trireme::run
