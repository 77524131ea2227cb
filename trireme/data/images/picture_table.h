// SPDX-License-Identifier: Apache-2.0
// A table that names picture files and says which class each is; its columns are found by what is in them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trireme::data {

// By name or number; empty: to be found.
struct PictureColumns {
  std::string file;
  std::string label;
};

struct PictureRow {
  std::string named;           // as the table has it
  std::filesystem::path file;  // below the folder; empty: there is none
  std::string label;
  std::string place;  // "FILE:LINE"
};

struct PictureTable {
  std::vector<PictureRow> rows;
  std::vector<std::string> unnamed;  // pictures below the folder that no row names
};

// A picture may be named by its path below the folder, by its file name alone, and without its extension. A first row that names no
// picture is the header.
PictureTable read_picture_table(const std::filesystem::path& folder, const std::filesystem::path& table, const PictureColumns& wanted);

}  // namespace trireme::data
