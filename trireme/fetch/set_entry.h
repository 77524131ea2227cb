// SPDX-License-Identifier: Apache-2.0
// A public data set: each file of sets/ knows one, where it can be had and how it becomes its standard files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::fetch {

// A file of the set in its standard, uncompressed form.
struct SetFile {
  std::string_view name;  // "train-images-idx3-ubyte"
  std::string_view md5;
};

enum class Registry {
  address,  // `location` is a URL
  npm,      // `location` is a package of the npm registry, asked through the npm client
  debian,   // `location` is a Debian package, asked through apt
};

struct SetSource {
  Registry registry = Registry::address;
  std::string_view location;
  // Turns what was downloaded (an archive or a file) into standard files in `folder`; empty for a gzipped or plain file that is one.
  void (*unpack)(const std::filesystem::path& downloaded, const std::filesystem::path& folder) = nullptr;
};

struct SetEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view reader;  // of data/readers/ that reads the files
  std::vector<SetFile> train;
  std::vector<SetFile> test;
  std::vector<std::string_view> class_names;
  std::vector<SetSource> sources;  // tried in this order
};

namespace sets {
const std::vector<SetEntry>& catalog();
}

// Null if `name` is no public set.
const SetEntry* find_set(std::string_view name);

}  // namespace trireme::fetch
