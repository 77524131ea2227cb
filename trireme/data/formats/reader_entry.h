// SPDX-License-Identifier: Apache-2.0
// A reader: each file of readers/ knows one format of data sets.
#pragma once

#include <any>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "trireme/base/options.h"
#include "trireme/data/formats/image_fit.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

enum class Part { train, test };

struct ReaderRequest {
  std::vector<std::filesystem::path> files;  // as the job names them; empty for synthetic sets
  Part part = Part::train;                   // only synthetic sets, which have no files, need to know
  std::any options;                          // of the type the entry's OptionsType makes
};

// What conformance tests may expect of a damaged file.
enum class Damage {
  always_found,      // the format has counts or checksums: every truncation must be refused
  may_go_unnoticed,  // a text, say, that ends a line earlier is still a text: it must only not crash
};

struct ReaderEntry {
  std::string_view name;
  std::string_view summary;
  OptionsType options;
  bool reads_files = true;  // false: synthetic
  Damage damage = Damage::always_found;

  // Checks the files from end to end as far as the format allows and throws data_loss (damaged), not_found or invalid_argument
  // (options that don't fit), naming file, offset, what was expected and what was found. Nothing is allocated from a length that a
  // file promises before the file is seen to have it.
  std::unique_ptr<Source> (*open)(const ReaderRequest& request) = nullptr;

  // The same of files to be predicted: samples of the form `trained`, whose labels or targets are not needed and read as 0. Null: the
  // reader can't.
  std::unique_ptr<Source> (*open_unanswered)(const ReaderRequest& request, const SampleFormat& trained) = nullptr;

  // If samples are made of pictures: how, so that a prediction treats a single picture alike. Null: the default.
  ImageFit (*image_fit)(const std::any& options) = nullptr;

  // Writes a small good set into the empty `folder` and returns the request that reads it; conformance tests damage it.
  ReaderRequest (*example)(const std::filesystem::path& folder) = nullptr;
};

namespace readers {
const std::vector<ReaderEntry>& catalog();
}

const ReaderEntry& find_reader(std::string_view name);

}  // namespace trireme::data
