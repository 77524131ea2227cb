// SPDX-License-Identifier: Apache-2.0
// Options of readers that name a file, relative to the job file like train and test: whichever reader has an option of such a name.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace trireme::data {

inline constexpr std::array<std::string_view, 2> kFileOptions{"table", "test_table"};

// Whether a key of [data] names files.
inline bool names_files(std::string_view key) {
  return key == "train" || key == "test" || std::ranges::find(kFileOptions, key) != kFileOptions.end();
}

}  // namespace trireme::data
