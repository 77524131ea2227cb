// SPDX-License-Identifier: Apache-2.0
// Each class is shuffled by the seed and dealt out to the folds in turn, from where the class before it ended.
#include "trireme/data/sets/folds.h"

#include <fmt/format.h>

#include <map>

#include "trireme/base/error.h"
#include "trireme/data/source/permutation.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kNoEpoch = -2;  // a stream that neither an epoch uses nor the split

std::vector<std::int32_t> labels_of(const Source& samples, const std::vector<std::int64_t>& pool) {
  std::vector<std::int32_t> labels(pool.size(), 0);
  if (samples.format().classes == 0) return labels;  // numbers to predict: one kind
  for (std::size_t i = 0; i < pool.size(); ++i) labels[i] = samples.label(pool[i]);
  return labels;
}

std::map<std::int32_t, std::int64_t> counts_of(std::span<const std::int32_t> labels) {
  std::map<std::int32_t, std::int64_t> counts;
  for (const std::int32_t label : labels) ++counts[label];
  return counts;
}

std::string class_title(const SampleFormat& format, std::int32_t label) {
  const auto index = static_cast<std::size_t>(label);
  return index < format.class_names.size() ? fmt::format("{} ({})", label, format.class_names[index]) : std::to_string(label);
}

std::vector<std::string> scarce_classes(const SampleFormat& format, std::span<const std::int32_t> labels, std::int64_t folds) {
  std::vector<std::string> warnings;
  if (format.classes == 0) return warnings;
  for (const auto& [label, count] : counts_of(labels))
    if (count < folds)
      warnings.push_back(fmt::format("class {} has {} {} for {} folds: it is missing in the test of some", class_title(format, label),
                                     count, count == 1 ? "sample" : "samples", folds));
  return warnings;
}

}  // namespace

std::vector<std::int64_t> folds_of(std::span<const std::int32_t> labels, std::int64_t folds, std::uint64_t seed) {
  const auto order = epoch_permutation(static_cast<std::int64_t>(labels.size()), seed, kNoEpoch);
  std::map<std::int32_t, std::vector<std::int64_t>> classes;
  for (const std::int64_t sample : order) classes[labels[static_cast<std::size_t>(sample)]].push_back(sample);
  std::vector<std::int64_t> out(labels.size());
  std::int64_t dealt = 0;
  for (const auto& [label, samples] : classes)
    for (const std::int64_t sample : samples) out[static_cast<std::size_t>(sample)] = dealt++ % folds;
  return out;
}

Fold take_fold(const Source& samples, const std::vector<std::int64_t>& pool, const FoldRequest& request) {
  if (static_cast<std::int64_t>(pool.size()) < request.folds)
    throw Error{invalid_argument, "[data]: {} training samples are too few for {} folds", pool.size(), request.folds};
  const std::vector<std::int32_t> labels = labels_of(samples, pool);
  const std::vector<std::int64_t> folds = folds_of(labels, request.folds, request.seed);
  Fold out{.warnings = scarce_classes(samples.format(), labels, request.folds)};
  for (std::size_t i = 0; i < pool.size(); ++i) (folds[i] == request.fold ? out.held_out : out.rest).push_back(pool[i]);
  return out;
}

}  // namespace trireme::data
