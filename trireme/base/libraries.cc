// SPDX-License-Identifier: Apache-2.0
// Versions of the libraries that are used everywhere.
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <openssl/crypto.h>
#include <spdlog/version.h>

#include "trireme/base/json.h"
#include "trireme/base/library_version.h"

namespace trireme {

std::vector<LibraryVersion> libraries() {
  return {{"OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING)},
          {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"spdlog", fmt::format("{}.{}.{}", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH)},
          {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
          {"glibc", ::gnu_get_libc_version()}};
}

}  // namespace trireme
