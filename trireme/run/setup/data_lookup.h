// SPDX-License-Identifier: Apache-2.0
// Public data sets in a job: `name = "mnist"` becomes a reader and files of the user's cache, fetched if they are not there.
#pragma once

#include <filesystem>
#include <string_view>

#include "trireme/base/config.h"
#include "trireme/fetch/set_entry.h"
#include "trireme/run/terminal/console.h"

namespace trireme::run {

// What values it sets have as origin; they follow from data.name and are not kept with a run.
inline constexpr std::string_view kFromSetName = "data.name";

// The public set that a job names; null if it names none.
const fetch::SetEntry* public_set(const Config& job);
// Puts reader, files and class names in the place of the set's name.
void name_files(Config& job, const fetch::SetEntry& set, const std::filesystem::path& directory);

// Both, with a fetch between them if the files are not there yet.
void resolve_data(Config& job, const Console& console);

}  // namespace trireme::run
