// SPDX-License-Identifier: Apache-2.0
// A list of runs as a table for the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trireme/report/folder/run_entry.h"

namespace trireme::cli {

// `columns` are those of the terminal: less important ones of the table are left out until it fits. 0: there is no terminal.
std::string table_of(const std::vector<report::RunEntry>& entries, std::size_t columns = 0);

// "2026-11-17 08:30", in this machine's time zone.
std::string date_text(double seconds_since_1970);

}  // namespace trireme::cli
