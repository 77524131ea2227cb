// SPDX-License-Identifier: Apache-2.0
// The options of a reader that are lists of texts, by their names.
#pragma once

#include <any>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/formats/reader_entry.h"

namespace trireme::data {

// Calls `visit` with the name and value of each.
void visit_text_lists(const ReaderEntry& reader, std::any& options,
                      const std::function<void(std::string_view name, std::vector<std::string>& value)>& visit);

}  // namespace trireme::data
