// SPDX-License-Identifier: Apache-2.0
// How many classes a set has, and whether a set is complete: questions that several readers ask.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace trireme::data {

// A label above this comes from a damaged file or a wrong column, and would make a network of absurd width.
inline constexpr std::int64_t kMaxClasses = 1 << 20;

// `label` as it stands in a sample; `classes` 0: not known yet. `place` names file and offset in the message.
std::int32_t checked_label(std::int64_t label, std::int64_t classes, std::string_view place);

// `classes` itself, or the largest label + 1 if it is 0.
std::int64_t count_classes(std::span<const std::int32_t> labels, std::int64_t classes);

// Formats without a count can't show that whole records are missing at the end of a file: `expected` in all files (0: any number).
void check_record_count(std::int64_t expected, std::int64_t found, const std::vector<std::filesystem::path>& files,
                        const std::vector<std::int64_t>& file_starts);

}  // namespace trireme::data
