// SPDX-License-Identifier: Apache-2.0
// [compare.matrix]: lists of values, of which every combination is a variant.
#pragma once

#include <vector>

#include "trireme/base/config.h"
#include "trireme/experiment/experiment.h"

namespace trireme::experiment {

// Variants of `job` (without its [compare]) for every combination of compare.matrix, without those of compare.exclude, with the numbers of
// compare.published. The first axis changes slowest. `seeds` is no axis: it is taken as the experiment's. Throws invalid_argument with the
// place.
std::vector<Variant> matrix_variants(const Config& job, const Config& compare, std::int64_t nodes);

// What others measured, of a table with names of metrics.
std::map<std::string, double> published_numbers(const Config& table);

}  // namespace trireme::experiment
