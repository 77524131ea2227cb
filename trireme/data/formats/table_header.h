// SPDX-License-Identifier: Apache-2.0
// Numbers in the fields of a table, and whether its first row is names.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace trireme::data {

// The finite number that a field is, spaces around it aside.
std::optional<double> number_in_field(std::string_view field);

// Whether `first` names the columns: it has no numbers, counts 0, 1, 2, ..., or has a word where `second`, the row after it, has a number.
bool looks_like_names(const std::vector<std::string_view>& first, const std::vector<std::string_view>& second);

}  // namespace trireme::data
