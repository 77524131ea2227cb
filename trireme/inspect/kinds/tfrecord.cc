// SPDX-License-Identifier: Apache-2.0
// tfrecord: shards of tf.train.Examples.
#include <cctype>

#include "trireme/inspect/kind_entry.h"

namespace trireme::inspect::kinds {
namespace {

namespace fs = std::filesystem;

// "x.tfrecord", "x.tfrecord-00000-of-00010", "x-00000-of-00010.gz"
bool is_shard(const fs::path& file) {
  const std::string name = lower(file.filename().string());
  if (name.find(".tfrecord") != std::string::npos || has_any_extension(file, {".tfrec", ".record"})) return true;
  const auto of = name.find("-of-");
  return of != std::string::npos && of > 0 && of + 4 < name.size() && std::isdigit(static_cast<unsigned char>(name[of - 1])) != 0 &&
         std::isdigit(static_cast<unsigned char>(name[of + 4])) != 0;
}

std::optional<Finding> find(const Place& place, const Wishes& /*wishes*/) {
  const std::vector<fs::path> shards = place.files_if(is_shard);
  if (shards.empty()) return std::nullopt;
  Finding finding{.title = "TFRecord shards", .reader = "tfrecord", .form = Form::pictures, .mirrors = true};
  std::vector<fs::path> validation;
  for (const fs::path& shard : shards) {
    const PartName part = part_in(shard.filename().string());
    (part == PartName::test ? finding.test : part == PartName::validation ? validation : finding.train).push_back(shard);
  }
  if (finding.train.empty()) finding.train.swap(finding.test);
  if (finding.train.empty()) finding.train.swap(validation);
  auto& rest = finding.test.empty() ? finding.test : finding.train;
  rest.insert(rest.end(), validation.begin(), validation.end());
  finding.options.push_back({"on_damage", "\"skip\"", "a damaged record is left out"});
  return finding;
}

}  // namespace

KindEntry tfrecord() {
  return {.name = "tfrecord", .looked_for = "TFRecord shards (.tfrecord, NAME-00000-of-00010)", .order = 70, .find = find};
}

}  // namespace trireme::inspect::kinds
