// SPDX-License-Identifier: Apache-2.0
// Samples for the page: the most confident mistakes with truth and answers, and the first samples of a training as the network sees them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/json.h"
#include "trireme/data/sets/data_options.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/run/learned/assessment.h"

namespace trireme::run {

inline constexpr std::int64_t kRunPictureEdge = 96;  // pixels, of samples that are kept in a run

// Reads the samples again, as they are stored.
Json mistakes_document(const Assessment& assessment, const Assessed& assessed, std::int64_t max_edge);

// The first of epoch 1, augmented with the random numbers that they get in the training.
Json examples_document(const data::DataSets& sets, const data::DataRequest& request, std::uint64_t seed, std::int64_t count);

}  // namespace trireme::run
