// SPDX-License-Identifier: Apache-2.0
// Opens the reader, puts the cache before it, splits off validation samples and measures the normalisation.
#include "trireme/data/sets/data_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/data/formats/named_files.h"
#include "trireme/data/pipeline/cache.h"
#include "trireme/data/sets/folds.h"
#include "trireme/data/sets/matching_parts.h"
#include "trireme/data/sets/stratified_split.h"
#include "trireme/data/source/permutation.h"
#include "trireme/data/source/subset.h"

namespace trireme::data {
namespace {

CacheKind cache_kind(const std::string& name) {
  if (name == "none") return CacheKind::none;
  return name == "disk" ? CacheKind::disk : CacheKind::memory;
}

std::shared_ptr<const Source> open_part(const DataRequest& request, Part part, const std::vector<std::string>& class_names = {}) {
  ReaderRequest files{.part = part, .options = request.reader_options};
  const auto& names = part == Part::train ? request.data.train : request.data.test;
  if (names.empty() && (part == Part::test && request.reader->reads_files)) return nullptr;
  files.files = named_files({names.begin(), names.end()});
  set_class_names(*request.reader, files.options, class_names);
  std::shared_ptr<const Source> source = request.reader->open(files);
  return source->size() == 0 ? nullptr : source;
}

std::int64_t held_out(double wanted, std::int64_t samples) {
  return std::llround(wanted < 1 ? wanted * static_cast<double>(samples) : wanted);
}

SplitSizes split_sizes(const DataOptions& options, std::int64_t samples) {
  const SplitSizes sizes{.validation = held_out(options.validation, samples), .test = held_out(options.test_split, samples)};
  if (sizes.validation + sizes.test >= samples)
    throw Error{invalid_argument, "[data]: validation and test_split hold out {} of {} training samples; nothing is left to train on",
                sizes.validation + sizes.test, samples};
  return sizes;
}

std::vector<std::string> class_names_of(const DataOptions& options, const SampleFormat& format) {
  if (options.class_names.empty()) return format.class_names;
  if (static_cast<std::int64_t>(options.class_names.size()) != format.classes)
    throw Error{invalid_argument, "[data]: {} class_names for {} classes", options.class_names.size(), format.classes};
  return options.class_names;
}

std::shared_ptr<const Source> part_or_null(const std::shared_ptr<const Source>& base, std::vector<std::int64_t> indices) {
  if (indices.empty()) return nullptr;
  return std::make_shared<Subset>(base, std::move(indices));
}

std::vector<std::int32_t> labels_of(const Source& samples) {
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < samples.size(); ++i) labels.push_back(samples.label(i));
  return labels;
}

Split split_of(const Source& samples, const SplitSizes& sizes, const DataOptions& options) {
  const auto seed = static_cast<std::uint64_t>(options.split_seed);
  if (!options.stratify) return split_samples(samples.size(), sizes, seed);
  if (samples.format().classes == 0)
    throw Error{invalid_argument, "[data]: stratify needs classes, but these samples have numbers to predict; leave it out"};
  return stratified_split(labels_of(samples), sizes, seed);
}

std::int64_t classes_among(const Source& samples) {
  const std::vector<std::int32_t> labels = labels_of(samples);
  return static_cast<std::int64_t>(std::set<std::int32_t>(labels.begin(), labels.end()).size());
}

// The first ones, or with `stratify` of each class its share. In a folder for each class the first ones are all of one class.
void limit_samples(std::vector<std::int64_t>& train, DataSets& sets, const DataOptions& options) {
  const auto left = static_cast<std::int64_t>(train.size());
  if (options.limit == 0 || options.limit >= left) return;
  const Subset all(sets.train, train);
  if (options.stratify) {
    const auto seed = static_cast<std::uint64_t>(options.split_seed);
    std::vector<std::int64_t> places = stratified_split(labels_of(all), {.validation = left - options.limit}, seed).train;
    for (std::int64_t& place : places) place = train[static_cast<std::size_t>(place)];
    train = std::move(places);
  }
  train.resize(static_cast<std::size_t>(options.limit));
  if (sets.train->format().classes == 0) return;
  const std::int64_t classes = classes_among(all), kept = classes_among(Subset(sets.train, train));
  if (kept < classes)
    sets.warnings.push_back(fmt::format("data.limit = {} leaves samples of {} of {} classes to train on{}", options.limit, kept, classes,
                                        options.stratify ? "" : "; with data.stratify = true it takes of each class its share"));
}

// The fold is held out of what the split leaves to train on; validation samples are then drawn from the rest.
void apply_fold(Split& split, DataSets& sets, const DataOptions& options) {
  std::vector<std::int64_t> pool;
  std::ranges::merge(split.train, split.validation, std::back_inserter(pool));
  const auto seed = static_cast<std::uint64_t>(options.split_seed);
  Fold fold = take_fold(*sets.train, pool, {.folds = options.folds, .fold = options.fold - 1, .seed = seed});
  std::ranges::copy(fold.warnings, std::back_inserter(sets.warnings));
  const auto left = static_cast<std::int64_t>(fold.rest.size());
  const std::int64_t validation = held_out(options.validation, left);
  if (validation >= left)
    throw Error{invalid_argument, "[data]: validation holds out {} of the {} samples that fold {} leaves; nothing is left to train on",
                validation, left, options.fold};
  const auto samples_at = [&](std::vector<std::int64_t> places) {
    for (std::int64_t& place : places) place = fold.rest[static_cast<std::size_t>(place)];
    return places;
  };
  const Split rest = split_of(Subset(sets.train, fold.rest), {.validation = validation}, options);
  split = {.train = samples_at(rest.train), .validation = samples_at(rest.validation), .test = std::move(fold.held_out)};
}

void apply_split(DataSets& sets, const DataOptions& options) {
  const SplitSizes sizes = split_sizes(options, sets.train->size());
  if (sizes.test > 0 && sets.test != nullptr) throw Error{invalid_argument, "[data]: has both test files and test_split; leave one out"};
  Split split = split_of(*sets.train, sizes, options);
  if (options.folds > 0) apply_fold(split, sets, options);
  limit_samples(split.train, sets, options);
  if (static_cast<std::int64_t>(split.train.size()) == sets.train->size()) return;
  const std::shared_ptr<const Source> base = sets.train;
  sets.train = part_or_null(base, std::move(split.train));
  sets.validation = part_or_null(base, std::move(split.validation));
  if (sizes.test > 0 || options.folds > 0) sets.test = part_or_null(base, std::move(split.test));
}

}  // namespace

Split split_samples(std::int64_t samples, const SplitSizes& sizes, std::uint64_t seed) {
  constexpr std::int64_t kNoEpoch = -1;  // a stream that no epoch uses
  const std::vector<std::int64_t> order = epoch_permutation(samples, seed, kNoEpoch);
  const auto validation_end = order.begin() + sizes.validation;
  const auto test_end = validation_end + sizes.test;
  Split split{.train = {test_end, order.end()}, .validation = {order.begin(), validation_end}, .test = {validation_end, test_end}};
  for (auto* part : {&split.train, &split.validation, &split.test}) std::ranges::sort(*part);
  return split;
}

std::shared_ptr<const Source> part_named(const DataSets& sets, std::string_view part) {
  const auto& samples = part == "train" ? sets.train : part == "validation" ? sets.validation : sets.test;
  if (samples == nullptr) throw Error{invalid_argument, "these data have no part '{}'", part};
  return samples;
}

Sources open_sources(const DataRequest& request) {
  Sources sources{.train = open_part(request, Part::train)};
  if (sources.train == nullptr) throw Error{data_loss, "[data]: '{}' has no training samples", request.title()};
  sources.test = open_part(request, Part::test, sources.train->format().class_names);
  if (sources.test != nullptr) sources.test = matched_to(*sources.train, sources.test);
  return sources;
}

std::shared_ptr<const Source> open_unanswered(const DataRequest& request, const std::vector<std::filesystem::path>& files) {
  if (request.reader->open_unanswered == nullptr)
    throw Error{invalid_argument,
                "the reader {} can't read samples without their answers; --set data.test=FILE takes files like the training's",
                request.reader->name};
  const std::shared_ptr<const Source> trained = open_part(request, Part::train);
  if (trained == nullptr) throw Error{invalid_argument, "[data]: there are no training samples, so the form of a sample is not known"};
  return request.reader->open_unanswered({.files = named_files(files), .part = Part::test, .options = request.reader_options},
                                         trained->format());
}

DataSets open_data(const DataRequest& request, const std::filesystem::path& scratch, std::int64_t nodes) {
  return open_data(request, open_sources(request), scratch, nodes);
}

DataSets open_data(const DataRequest& request, const Sources& sources, const std::filesystem::path& scratch, std::int64_t nodes) {
  DataSets sets{.train = sources.train, .test = sources.test};
  for (const auto& part : {sets.train, sets.test}) {
    if (part == nullptr) continue;
    std::ranges::copy(part->warnings(), std::back_inserter(sets.warnings));
    std::ranges::copy(part->skipped(), std::back_inserter(sets.skipped));
  }
  const CacheKind kind = cache_kind(request.pipeline.cache);
  MemoryBudget memory(memory_share(nodes));
  sets.train = cached(sets.train, kind, scratch, memory);
  if (sets.test != nullptr) sets.test = cached(sets.test, kind, scratch, memory);
  apply_split(sets, request.data);
  sets.class_names = class_names_of(request.data, sets.train->format());
  sets.normalization = measure_normalization(*sets.train, request.data.normalize);
  return sets;
}

}  // namespace trireme::data
