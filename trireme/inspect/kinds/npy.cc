// SPDX-License-Identifier: Apache-2.0
// npy: arrays of numpy, in an archive or as files in a folder.
#include <fmt/format.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/data/formats/npy_bundle.h"
#include "trireme/inspect/kind_entry.h"

namespace trireme::inspect::kinds {
namespace {

namespace fs = std::filesystem;

bool is_array(const fs::path& file) { return has_any_extension(file, {".npy"}); }
bool is_archive(const fs::path& file) { return has_any_extension(file, {".npz"}); }

bool has_test_arrays(const std::vector<fs::path>& files) {
  for (const data::NpyBundle& bundle : data::npy_bundles(files))
    for (const auto& entry : bundle.entries)
      if (part_in(entry.name) == PartName::test) return true;
  return false;
}

// An archive for each part, as train.npz and test.npz.
void choose_archives(const std::vector<fs::path>& archives, Finding& finding) {
  for (const fs::path& archive : archives)
    (part_in(archive.filename().string()) == PartName::test ? finding.test : finding.train).push_back(archive);
  if (finding.train.empty()) finding.train.swap(finding.test);
}

std::optional<Finding> find(const Place& place, const Wishes& /*wishes*/) {
  const std::vector<fs::path> arrays = place.files_if(is_array), archives = place.files_if(is_archive);
  if (arrays.empty() && archives.empty()) return std::nullopt;
  if (!place.is_folder() && archives.empty())
    throw Error{invalid_argument, "{}: one array is not enough; name the folder that has it and its labels (e.g. x.npy and y.npy)",
                place.path().string()};
  Finding finding{.title = "arrays of numpy", .reader = "npy", .form = Form::table};
  if (archives.empty())
    finding.train = {place.path()};
  else
    choose_archives(archives, finding);
  if (finding.test.empty() && has_test_arrays(finding.train)) finding.test = finding.train;
  for (const fs::path& file : place.files()) {
    if (!is_archive(file) && !(archives.empty() && is_array(file)))
      finding.left_out.push_back(fmt::format("{}: beside the arrays", name_below(file, place.path())));
  }
  return finding;
}

}  // namespace

KindEntry npy() {
  return {.name = "npy", .looked_for = "arrays of numpy (.npz, or .npy files for samples and labels)", .order = 80, .find = find};
}

}  // namespace trireme::inspect::kinds
