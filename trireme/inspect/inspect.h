// SPDX-License-Identifier: Apache-2.0
// Finds out what lies at a path and counts it.
#pragma once

#include <filesystem>
#include <string>

#include "trireme/inspect/finding.h"

namespace trireme::inspect {

// Asks each kind in its order, then reads all samples once. Errors say what was looked for and what to do.
Inspection inspect(const std::filesystem::path& path, const Wishes& wishes);

// Whether `path` can only be data: a folder, or a file whose name is no job file's.
bool names_data(const std::filesystem::path& path);

// The finding as the [data] lines of a job; files below `base` are named relative to it, all of them absolute if it is empty.
std::string data_lines(const Finding& finding, const std::filesystem::path& base);

// For a person: what was found, how it is divided into classes, and what was left out.
std::string report_of(const Inspection& inspection);

}  // namespace trireme::inspect
