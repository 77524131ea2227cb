// SPDX-License-Identifier: Apache-2.0
// From a path to a job file: inspected, given a recipe, timed.
#pragma once

#include <filesystem>
#include <string>

#include "trireme/inspect/estimate.h"
#include "trireme/inspect/finding.h"

namespace trireme::inspect {

struct FirstJob {
  std::string text;    // the job file
  std::string report;  // for a person: what was found, what was left out, how it is trained and how long that takes
};

struct FirstJobRequest {
  std::filesystem::path path{};
  Wishes wishes{};
  std::filesystem::path base{};  // folder of the job file; empty: data are named by absolute paths
  EngineRequest engine{};
  double minutes = 10;  // that the training may take; it gets fewer epochs than are good for it otherwise
};

FirstJob first_job(const FirstJobRequest& request);

}  // namespace trireme::inspect
