// SPDX-License-Identifier: Apache-2.0
// Reads the [data] table of a job and checks what must fit together.
#include "trireme/data/sets/data_options.h"

#include <fmt/ranges.h>

#include "trireme/base/catalog_lookup.h"
#include "trireme/base/error.h"
#include "trireme/base/error_context.h"

namespace trireme::data {
namespace {

const Config& table_or_empty(const Config& config, std::string_view key) {
  static const Config kEmpty;
  const Config* table = config.find(key);
  return table == nullptr ? kEmpty : *table;
}

// An empty text says as little as none.
const Config* find_text(const Config& table, std::string_view key) {
  const Config* found = table.find(key);
  return found == nullptr || found->text().empty() ? nullptr : found;
}

const ReaderEntry& reader_of(const Config& data) {
  if (const Config* reader = find_text(data, "reader"))
    return with_context(reader->origin(), [&]() -> const ReaderEntry& { return find_reader(reader->text()); });
  const Config* name = find_text(data, "name");
  if (name == nullptr)
    throw Error{invalid_argument, "{}: [data] needs name = \"...\" (see 'trireme list data') or reader = \"...\" with path = \"...\"",
                data.origin().empty() ? "the job" : data.origin()};
  for (const ReaderEntry& entry : readers::catalog()) {
    if (entry.name == name->text() && !entry.reads_files) return entry;
  }
  throw Error{invalid_argument, "{}: there is no data set '{}'; 'trireme list data' shows them", name->origin(), name->text()};
}

// What else people call their files.
void check_names_of_files(const Config& data, std::string_view place) {
  for (const std::string_view key : {"folder", "folders", "directory", "dir", "root", "file", "files", "data_dir", "train_dir",
                                     "train_path", "train_files", "train_folder", "paths"}) {
    if (const Config* found = data.find(key))
      throw Error{invalid_argument, "{}: {} has no option '{}'; did you mean 'path' (all files or folders), or 'train' and 'test'?",
                  found->origin(), place, key};
  }
}

void check_fold(const DataOptions& options, const Config& data) {
  if (options.folds == 0 && options.fold == 0) return;
  const std::string& place = data.at(data.find("folds") == nullptr ? "fold" : "folds").origin();
  if (options.folds < 2) throw Error{invalid_argument, "{}: [data]: folds must be at least 2, not {}", place, options.folds};
  if (options.fold < 1 || options.fold > options.folds)
    throw Error{invalid_argument,
                "{}: [data]: folds = {} needs fold = 1 to {}; `trireme train --folds {}` trains each",
                place,
                options.folds,
                options.folds,
                options.folds};
}

void check_files(const DataRequest& request, const Config& data) {
  if (request.reader->reads_files && request.data.train.empty())
    throw Error{invalid_argument, "{}: [data]: reader '{}' needs path = \"...\" or train = [files]", data.at("reader").origin(),
                request.reader->name};
}

}  // namespace

void describe(DataOptions& o, OptionVisitor& visit) {
  visit("name", o.name, "a public set ('trireme list data'), fetched if it is not here, or a synthetic one");
  visit("reader", o.reader, "instead of a name: the format of files of your own ('trireme list readers')");
  visit("train", o.train,
        "files, folders or patterns (shards/train-*) for training, relative to the job file; 'path' is another name for it");
  visit("test", o.test, "files, folders or patterns for the test; classes may be missing in it");
  visit("validation", o.validation, "training samples held out for the check after each epoch: a number, or a share below 1", 0, 1e12);
  visit("test_split", o.test_split, "training samples held out for the test, if there are no files for it: a number, or a share", 0, 1e12);
  visit("split_seed", o.split_seed, "decides which samples are held out", 0);
  visit("stratify", o.stratify, "held-out samples have as much of each class as all samples do");
  visit("folds", o.folds, "the training samples in so many parts, one of which is the test; 0: none. `trireme train --folds` sets both", 0,
        1 << 20);
  visit("fold", o.fold, "which part is the test, from 1 to `folds`", 0, 1 << 20);
  visit("limit", o.limit, "train on this many samples at most, the first ones or with `stratify` of each class its share; 0 means all", 0);
  visit("normalize", o.normalize,
        "measured on the training samples: subtract the mean, or divide by the deviation too (standard); per_sample: each by its own",
        {"none", "mean", "standard", "per_sample"});
  visit("class_names", o.class_names, "what to call the classes, if the files don't say");
}

void describe(PipelineOptions& o, OptionVisitor& visit) {
  visit("cache", o.cache, "where decoded samples are kept after their first read", {"none", "memory", "disk"});
  visit("shuffle", o.shuffle, "a new order in each epoch");
  visit("interleave", o.interleave, "files read in turn when not shuffled", 1, 1 << 20);
  visit("threads", o.threads, "that prepare batches in the background; 0: none, each step waits for its batch", 0, 1 << 10);
  visit("prefetch", o.prefetch, "batches prepared ahead", 1, 1 << 16);
}

void visit_data(DataRequest& request, OptionVisitor& visit) {
  describe(request.data, visit);
  request.reader->options.visit(request.reader_options, visit);
}

DataRequest data_request(const Config& data) {
  DataRequest request;
  request.reader = &reader_of(data);
  request.reader_options = request.reader->options.defaults();
  const std::string place = fmt::format("[data] ({})", request.reader->name);
  check_names_of_files(data, place);
  OptionReader reader(data, place, {"pipeline", "augment"});
  visit_data(request, reader);
  reader.finish();
  request.pipeline = read_options<PipelineOptions>(table_or_empty(data, "pipeline"), "[data.pipeline]");
  request.augment = read_options<AugmentOptions>(table_or_empty(data, "augment"), "[data.augment]");
  check_files(request, data);
  check_fold(request.data, data);
  return request;
}

}  // namespace trireme::data
