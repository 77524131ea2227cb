// SPDX-License-Identifier: Apache-2.0
// idx: pairs of files as MNIST has them, images and labels.
#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/inspect/kind_entry.h"

namespace trireme::inspect::kinds {
namespace {

namespace fs = std::filesystem;

bool is_idx(const fs::path& file) {
  return lower(file.filename().string()).find("ubyte") != std::string::npos || has_any_extension(file, {".idx"});
}

// "train-images-idx3-ubyte.gz" -> "train-labels-idx1-ubyte.gz"; empty if it is no name of images.
std::string labels_of(std::string name) {
  const auto at = name.find("images");
  if (at == std::string::npos) return "";
  name.replace(at, 6, "labels");
  if (const auto rank = name.find("idx3"); rank != std::string::npos) name.replace(rank, 4, "idx1");
  return name;
}

struct Pair {
  fs::path images;
  fs::path labels;
};

std::vector<Pair> pairs_of(const std::vector<fs::path>& files, std::vector<std::string>& left_out) {
  std::vector<Pair> pairs;
  for (const fs::path& file : files) {
    const std::string name = labels_of(file.filename().string());
    if (name.empty()) continue;
    const fs::path labels = file.parent_path() / name;
    std::error_code fault;
    if (fs::exists(labels, fault))
      pairs.push_back({.images = file, .labels = labels});
    else
      left_out.push_back(fmt::format("{}: its labels, {}, are not there", file.filename().string(), name));
  }
  return pairs;
}

bool is_test(const Pair& pair) {
  const std::string name = pair.images.filename().string();
  return name.starts_with("t10k") || part_in(name) == PartName::test;
}

std::optional<Finding> find(const Place& place, const Wishes& /*wishes*/) {
  const std::vector<fs::path> files = place.files_if(is_idx);
  if (files.empty()) return std::nullopt;
  Finding finding{.title = "pictures in IDX files, as MNIST has them", .reader = "idx", .form = Form::pictures};
  std::vector<Pair> pairs = pairs_of(files, finding.left_out);
  if (pairs.empty())
    throw Error{invalid_argument, "{}: has IDX files, but no pair of images and labels; they are called e.g. {} and {}",
                place.path().string(), "train-images-idx3-ubyte", "train-labels-idx1-ubyte"};
  const bool has_train = std::ranges::any_of(pairs, [](const Pair& pair) { return !is_test(pair); });
  for (const Pair& pair : pairs) {
    auto& part = has_train && is_test(pair) ? finding.test : finding.train;
    part.push_back(pair.images);
    part.push_back(pair.labels);
  }
  return finding;
}

}  // namespace

KindEntry idx() {
  return {
      .name = "idx", .looked_for = "IDX files (train-images-idx3-ubyte and train-labels-idx1-ubyte, also .gz)", .order = 40, .find = find};
}

}  // namespace trireme::inspect::kinds
