// SPDX-License-Identifier: Apache-2.0
// A job's data files with their sizes and checksums: what every node must have.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/data/sets/data_files.h"
#include "trireme/train/staging/file_digests.h"

namespace trireme::train {

struct ManifestFile {
  std::size_t folder = 0;
  std::filesystem::path name;  // relative to the folder, and nowhere above it
  std::string sha256;
  FileIdentity identity;  // on the coordinator's machine
};

struct DataManifest {
  std::string boot;                            // of that machine
  std::vector<std::filesystem::path> folders;  // there
  std::vector<data::DataFiles::Named> named;
  std::vector<ManifestFile> files;

  std::filesystem::path path_of(const ManifestFile& file) const { return folders[file.folder] / file.name; }
  std::uint64_t bytes() const;
  std::string hash() const;  // over names, sizes and checksums, wherever the files lie
};

DataManifest manifest_of(const data::DataFiles& files, FileDigests& digests);

std::string serialized(const DataManifest& manifest);
// Throws data_loss unless every name stays inside its folder.
DataManifest parsed_manifest(const std::string& bytes);

}  // namespace trireme::train
