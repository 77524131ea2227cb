// SPDX-License-Identifier: Apache-2.0
// The job file with the command line's --set on top of it.
#pragma once

#include <string>
#include <vector>

#include "trireme/base/config.h"

namespace trireme::run {

// Each of `settings` is "table.key=value", as after --set.
void apply_settings(Config& job, const std::vector<std::string>& settings);

// Data files are named relative to the job file, or, in `settings`, to the current directory; here they become absolute.
Config load_job(const std::string& path, const std::vector<std::string>& settings);
// The same of a job that is in no file; its data files are named by absolute paths.
Config job_from_text(const std::string& text, const std::string& name, const std::vector<std::string>& settings);

}  // namespace trireme::run
