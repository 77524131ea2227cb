// SPDX-License-Identifier: Apache-2.0
// JSON as people type it: a missing or surplus comma and a bare word are mended, and each mending is reported.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/config.h"

namespace trireme::cluster {

// Numbers, texts and lists as in JSON; yes and no become true and false, any other bare word a text. What can't be
// mended is invalid_argument, naming `name` and the line.
Config parse_loose_json(std::string_view text, std::string_view name, std::vector<std::string>& warnings);

}  // namespace trireme::cluster
