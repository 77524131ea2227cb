// SPDX-License-Identifier: Apache-2.0
// What the journal of a run that goes on says of its nodes so far.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "trireme/train/job/plan.h"

namespace trireme::run {

struct RunPast {
  std::uint64_t generation = 0;  // the last; numbers are never used twice
  std::int64_t step = 0;
  std::int64_t epochs = 0;
  std::string first_plan, last_plan;  // of its generations; empty: there was none, or an older Trireme made it
};
RunPast read_past(const std::filesystem::path& journal);

// Of its last generation; 1 if there was none.
std::int64_t last_workers(const std::filesystem::path& journal);

// The job's plan, with switches by hand and by policy of the run so far, unless the job has another strategy now.
train::Plan plan_after(const RunPast& past, train::Plan of_the_job);

}  // namespace trireme::run
