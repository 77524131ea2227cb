// SPDX-License-Identifier: Apache-2.0
// The JSON header of a safetensors file, as far as JSON and its keys go; whether the numbers fit the data is checked elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trireme {

struct SafetensorsHeader {
  struct Row {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::array<std::uint64_t, 2> data_offsets{};
  };
  std::vector<Row> rows;  // in the header's order
  std::map<std::string, std::string> metadata;
};

// `place` begins each message. Keys that are missing, unknown or there twice are data_loss; whether two rows have the same name is
// left to the caller, who sorts them anyway.
SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& place);

// A name as messages show it: quoted, control characters escaped, cut if it is very long.
std::string shown_name(std::string_view name);

}  // namespace trireme
