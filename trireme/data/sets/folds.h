// SPDX-License-Identifier: Apache-2.0
// Cross-validation: training samples in K parts of the same mixture of classes, each of which is the test of one training.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data {

// The fold of each sample, 0 to `folds` - 1: sizes differ by one at most, in all and in each class. A pure function of its arguments.
std::vector<std::int64_t> folds_of(std::span<const std::int32_t> labels, std::int64_t folds, std::uint64_t seed);

// Samples of `pool`, of which those of fold `fold` are held out.
struct Fold {
  std::vector<std::int64_t> rest;
  std::vector<std::int64_t> held_out;
  std::vector<std::string> warnings;  // of classes with fewer samples than folds
};
struct FoldRequest {
  std::int64_t folds = 0;
  std::int64_t fold = 0;  // the first is 0
  std::uint64_t seed = 0;
};
Fold take_fold(const Source& samples, const std::vector<std::int64_t>& pool, const FoldRequest& request);

}  // namespace trireme::data
