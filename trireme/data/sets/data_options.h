// SPDX-License-Identifier: Apache-2.0
// The [data] table of a job file: which samples, how they are split, prepared and read.
#pragma once

#include <any>
#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/base/options.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/pipeline/transform.h"

namespace trireme::data {

struct DataOptions {
  std::string name;
  std::string reader;
  std::vector<std::string> train;
  std::vector<std::string> test;
  double validation = 0;
  double test_split = 0;
  std::int64_t split_seed = 1;
  bool stratify = false;
  std::int64_t folds = 0;
  std::int64_t fold = 0;
  std::int64_t limit = 0;
  std::string normalize = "none";
  std::vector<std::string> class_names;
};
void describe(DataOptions& o, OptionVisitor& visit);

struct PipelineOptions {
  std::string cache = "memory";
  bool shuffle = true;
  std::int64_t interleave = 1;
  std::int64_t threads = 1;
  std::int64_t prefetch = 4;
};
void describe(PipelineOptions& o, OptionVisitor& visit);

struct DataRequest {
  DataOptions data;
  PipelineOptions pipeline;
  AugmentOptions augment;
  const ReaderEntry* reader = nullptr;
  std::any reader_options;  // they stand beside the others in [data]

  // What people call these data.
  std::string title() const { return data.name.empty() ? data.reader : data.name; }
};

// Throws invalid_argument with the place in the file. A public set's name must have been replaced by its reader and files before
// (cli/data_lookup.h); a synthetic set is its own reader.
DataRequest data_request(const Config& data);

// Everything that stands directly in [data].
void visit_data(DataRequest& request, OptionVisitor& visit);

}  // namespace trireme::data
