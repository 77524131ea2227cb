// SPDX-License-Identifier: Apache-2.0
// Public data sets on this machine: fetched once, verified, kept.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/fetch/downloader.h"
#include "trireme/fetch/package_registry.h"
#include "trireme/fetch/progress.h"
#include "trireme/fetch/set_entry.h"

namespace trireme::fetch {

struct FetchSettings {
  bool force = false;  // fetch even what is here
  std::string from;    // a folder or the beginning of an address that has the files, plain or .gz; empty: the set's own sources
  DownloadLimits limits;
  RegistryClients clients;
};

// Puts the set's files into directory/NAME/, each verified; does nothing if they are there. What a killed fetch left is continued.
// Throws unavailable with every source that was tried, why it failed, and how to put the files there by hand.
void fetch_set(const SetEntry& entry, const std::filesystem::path& directory, Progress& progress, const FetchSettings& settings = {});

struct SetPaths {
  std::vector<std::filesystem::path> train;
  std::vector<std::filesystem::path> test;
};

// Where the files are or would be.
SetPaths set_files(const SetEntry& entry, const std::filesystem::path& directory);

// Whether all files are there and verified; a file that changed since it was verified is verified again.
bool is_here(const SetEntry& entry, const std::filesystem::path& directory);

}  // namespace trireme::fetch
