// SPDX-License-Identifier: Apache-2.0
// Held-out samples in which each class has the share that it has of all.
#pragma once

#include <cstdint>
#include <span>

#include "trireme/data/sets/data_sets.h"

namespace trireme::data {

// As split_samples, class by class: a part's count of a class is its share, rounded so that the counts add up to the part's size. Each
// class keeps at least one training sample, so parts may get fewer than asked for.
Split stratified_split(std::span<const std::int32_t> labels, const SplitSizes& sizes, std::uint64_t seed);

}  // namespace trireme::data
