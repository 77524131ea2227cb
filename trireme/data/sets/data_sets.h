// SPDX-License-Identifier: Apache-2.0
// The parts of a data set that a training uses, opened and split.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trireme/data/pipeline/transform.h"
#include "trireme/data/sets/data_options.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

struct DataSets {
  std::shared_ptr<const Source> train;
  std::shared_ptr<const Source> validation;  // null if there is none
  std::shared_ptr<const Source> test;        // null if there is none
  Normalization normalization;               // measured on the training part
  std::vector<std::string> class_names;      // empty: they are called by their numbers
  std::vector<std::string> warnings;         // of the readers
  std::vector<std::string> skipped;          // damaged samples that the readers left out, with the reason
};

// What a job's readers have opened: all that a model's sizes can follow from, and open_data needs it only once.
struct Sources {
  std::shared_ptr<const Source> train;
  std::shared_ptr<const Source> test;  // null if there is none
};
Sources open_sources(const DataRequest& request);

// Files to be predicted, for a model that these data have trained; they need no labels or targets. invalid_argument if the reader can't.
std::shared_ptr<const Source> open_unanswered(const DataRequest& request, const std::vector<std::filesystem::path>& files);

// `scratch` is where a cache on disk may lie; a cache in memory takes no more than the share of one of `nodes` on this machine.
DataSets open_data(const DataRequest& request, const std::filesystem::path& scratch, std::int64_t nodes = 1);
DataSets open_data(const DataRequest& request, const Sources& sources, const std::filesystem::path& scratch, std::int64_t nodes = 1);

// train, validation or test; invalid_argument if these data have no such part.
std::shared_ptr<const Source> part_named(const DataSets& sets, std::string_view part);

// Held-out samples are drawn at random by `seed`: which ones does not depend on anything else. Each list ascends.
struct Split {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> validation;
  std::vector<std::int64_t> test;
};
struct SplitSizes {
  std::int64_t validation = 0;
  std::int64_t test = 0;
};
Split split_samples(std::int64_t samples, const SplitSizes& sizes, std::uint64_t seed);

}  // namespace trireme::data
