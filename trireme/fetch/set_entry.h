// SPDX-License-Identifier: Apache-2.0
// A public data set: each file of sets/ knows one, where it can be had and how it becomes its standard files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace trireme::fetch {

// A file of the set in its standard, uncompressed form.
struct SetFile {
  std::string_view name;  // "train-images-idx3-ubyte"
  std::int64_t bytes = 0;
  std::string_view md5;       // empty if it was never published: then that of the .gz decides
  std::string_view gzip_md5;  // of the published .gz; looked at only where `md5` is empty
};

enum class Registry {
  address,  // `location` is a URL
  npm,      // `location` is package@version of the npm registry, asked through the npm client
  debian,   // `location` is a Debian package, asked through apt
};

// Makes the files of `wanted` in `folder`, plain or as .gz, from a downloaded archive.
using Unpack = void (*)(const std::filesystem::path& archive, const std::vector<SetFile>& wanted, const std::filesystem::path& folder);

struct SetSource {
  Registry registry = Registry::address;
  std::string_view location;
  std::string_view md5;     // of the archive behind an address; the registries say theirs themselves
  Unpack unpack = nullptr;  // null: `location` is the beginning of an address that ends with NAME.gz, one for each file
};

struct SetEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view reader;  // of data/readers/ that reads the files
  std::vector<SetFile> train;
  std::vector<SetFile> test;
  std::vector<std::string_view> class_names;
  std::vector<SetSource> sources;  // tried in this order

  std::vector<SetFile> files() const;  // train, then test
  std::int64_t bytes() const;
};

namespace sets {
const std::vector<SetEntry>& catalog();
}

// Null if `name` is no public set.
const SetEntry* find_set(std::string_view name);

}  // namespace trireme::fetch
