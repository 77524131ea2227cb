// SPDX-License-Identifier: Apache-2.0
// npm and apt as child processes.
#include "trireme/fetch/package_registry.h"

#include <algorithm>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/base/json.h"
#include "trireme/fetch/process.h"

namespace trireme::fetch {
namespace {

constexpr Seconds kQuestion{30};    // for an answer of a line
constexpr Seconds kDownload{1800};  // for a whole package

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string hex_from_base64(std::string_view text) {
  std::string hex;
  unsigned bits = 0;
  unsigned value = 0;
  for (const char letter : text.substr(0, text.find('='))) {
    const auto digit = kBase64.find(letter);
    if (digit == std::string_view::npos) throw Error{data_loss, "npm's checksum is not base64: {}", text};
    value = (value << 6 | static_cast<unsigned>(digit)) & 0xffff;
    bits += 6;
    if (bits >= 8) hex += fmt::format("{:02x}", value >> (bits -= 8) & 0xff);
  }
  return hex;
}

}  // namespace

Package parse_npm_dist(std::string_view json) {
  const Json dist = parse_json_or_discard(json);
  const auto text = [&](const char* key) {
    const bool there = dist.is_object() && dist.contains(key) && dist[key].is_string();
    return there ? dist[key].get<std::string>() : std::string();
  };
  const std::string url = text("tarball");
  const std::string integrity = text("integrity");
  constexpr std::string_view kPrefix = "sha512-";
  if (url.empty() || !integrity.starts_with(kPrefix)) throw Error{unavailable, "npm's answer has no tarball with a SHA-512: {}", json};
  return {.url = url, .kind = Digest::Kind::sha512, .digest = hex_from_base64(std::string_view(integrity).substr(kPrefix.size()))};
}

Package parse_apt_uris(std::string_view text) {
  // 'URL' FILE BYTES SHA256:HEX
  std::istringstream words{std::string(text)};
  std::string url, file, bytes, checksum;
  words >> url >> file >> bytes >> checksum;
  const bool quoted = url.size() > 2 && url.front() == '\'' && url.back() == '\'';
  const auto colon = checksum.find(':');
  if (!quoted || colon == std::string::npos) throw Error{unavailable, "apt's answer has no address with a checksum: {}", text};
  const std::string kind = checksum.substr(0, colon);
  if (kind != "SHA256" && kind != "SHA512") throw Error{unavailable, "apt's checksum is neither SHA256 nor SHA512: {}", checksum};
  return {.url = url.substr(1, url.size() - 2),
          .kind = kind == "SHA256" ? Digest::Kind::sha256 : Digest::Kind::sha512,
          .digest = checksum.substr(colon + 1)};
}

Package PackageRegistry::find(Registry registry, std::string_view package) const {
  const std::string name(package);
  ensure(registry != Registry::address, "an address is no package");
  if (registry == Registry::npm)
    return parse_npm_dist(run_process({clients_.npm, "view", name, "dist", "--json", "--fetch-retries=0"}, folder_, kQuestion));
  return parse_apt_uris(run_process({clients_.apt_get, "download", "--print-uris", name}, folder_, kQuestion));
}

std::filesystem::path PackageRegistry::download(Registry registry, std::string_view package) const {
  const std::filesystem::path folder = folder_ / "client";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string name(package);
  if (registry == Registry::npm)
    run_process({clients_.npm, "pack", name, "--silent"}, folder, kDownload);
  else
    run_process({clients_.apt_get, "download", name}, folder, kDownload);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) return entry.path();
  throw Error{unavailable, "{} ended well but left no package", registry == Registry::npm ? clients_.npm : clients_.apt_get};
}

}  // namespace trireme::fetch
