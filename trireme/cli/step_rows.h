// SPDX-License-Identifier: Apache-2.0
// Rows of steps/NODE.csv of a run.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>

#include "trireme/observe/records/step_anatomy.h"

namespace trireme::cli {

// The last `most` rows whose steps lie between the two. Columns that are missing are 0; a row that is damaged is passed over.
std::deque<observe::StepAnatomy> read_step_rows(const std::filesystem::path& file, std::int64_t first, std::int64_t last, std::size_t most);

}  // namespace trireme::cli
