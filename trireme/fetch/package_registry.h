// SPDX-License-Identifier: Apache-2.0
// Packages of npm and Debian, found through the clients that this machine has and is set up with.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trireme/base/digest.h"
#include "trireme/fetch/set_entry.h"

namespace trireme::fetch {

// The clients' programs; tests put their own here.
struct RegistryClients {
  std::string npm = "npm";
  std::string apt_get = "apt-get";
};

// Where a package is, and the checksum its registry promises.
struct Package {
  std::string url;
  Digest::Kind kind = Digest::Kind::sha512;
  std::string digest;
};

class PackageRegistry {
 public:
  // The clients run in `folder`, which must exist.
  PackageRegistry(RegistryClients clients, std::filesystem::path folder) : clients_(std::move(clients)), folder_(std::move(folder)) {}

  Package find(Registry registry, std::string_view package) const;

  // Lets the client itself download the package, with its own proxies and mirrors, into `folder`; returns the file.
  std::filesystem::path download(Registry registry, std::string_view package) const;

 private:
  RegistryClients clients_;
  std::filesystem::path folder_;
};

// What `npm view PACKAGE dist --json` and `apt-get download --print-uris PACKAGE` say.
Package parse_npm_dist(std::string_view json);
Package parse_apt_uris(std::string_view text);

}  // namespace trireme::fetch
