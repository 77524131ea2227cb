// SPDX-License-Identifier: Apache-2.0
// tfrecord: shards of tf.train.Examples.
#include <cctype>

#include "trireme/base/config.h"
#include "trireme/base/error.h"
#include "trireme/data/formats/reader_entry.h"
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

// Whether the shards can be read with these options, which are TOML.
bool opens(const std::vector<fs::path>& shards, const std::string& options) {
  const data::ReaderEntry& reader = data::find_reader("tfrecord");
  data::ReaderRequest request{.files = shards, .options = reader.options.defaults()};
  const Config table = Config::parse_toml(options, "tfrecord");
  OptionReader visitor(table, "tfrecord");
  reader.options.visit(request.options, visitor);
  try {
    reader.open(request);
    return true;
  } catch (const Error&) {  // what is wrong is said when the data are read
    return false;
  }
}

// Pictures of several sizes are brought to one.
void choose_size(Finding& finding) {
  const std::string skip = "on_damage = 'skip'\n";
  if (opens(finding.train, skip) || !opens(finding.train, skip + "height = 64\nwidth = 64\n")) return;
  finding.options.push_back({"height", "64", "pictures have several sizes; every one is resized"});
  finding.options.push_back({"width", "64", ""});
  finding.facts.emplace_back("pictures have several sizes; every one becomes 64x64");
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
  choose_size(finding);
  return finding;
}

}  // namespace

KindEntry tfrecord() {
  return {.name = "tfrecord", .looked_for = "TFRecord shards (.tfrecord, NAME-00000-of-00010)", .order = 70, .find = find};
}

}  // namespace trireme::inspect::kinds
