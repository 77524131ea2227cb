// SPDX-License-Identifier: Apache-2.0
// The settings of a run with their origins, as its config.toml has them.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

std::vector<ConfigRow> parse_config_rows(std::string_view text);
std::vector<ConfigRow> read_config_rows(const std::filesystem::path& path);  // none if it is not there

}  // namespace trireme::report
