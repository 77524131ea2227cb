// SPDX-License-Identifier: Apache-2.0
// Public data sets in a job: `name = "mnist"` becomes a reader and files of the user's cache, fetched if they are not there.
#pragma once

#include <string_view>

#include "trireme/base/config.h"
#include "trireme/cli/command_entry.h"

namespace trireme::cli {

// What values it sets have as origin; they follow from data.name and are not kept with a run.
inline constexpr std::string_view kFromSetName = "data.name";

void resolve_data(Config& job, const Console& console);

}  // namespace trireme::cli
