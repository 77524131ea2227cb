// SPDX-License-Identifier: Apache-2.0
// Arrays that belong together, each with a name: the members of a .npz file, the .npy files of a folder, or a pair of .npy files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/formats/npy_array.h"

namespace trireme::data {

struct NpyBundle {
  struct Entry {
    std::string name;  // a member's or file's, without ".npy"
    std::function<NpyArray()> load;
  };

  std::filesystem::path path;
  std::vector<Entry> entries;
  bool is_pair = false;  // named one after the other: features, then labels

  std::optional<std::size_t> find(std::string_view name) const;  // capitals don't matter
  // What it has, for a message: "x (float32, 100x28x28), y (int64, 100)". Loads all.
  std::string contents() const;
};

// In the order of `files`: .npz files, folders of .npz or .npy files, and pairs of .npy files, which their content distinguishes.
std::vector<NpyBundle> npy_bundles(const std::vector<std::filesystem::path>& files);

}  // namespace trireme::data
