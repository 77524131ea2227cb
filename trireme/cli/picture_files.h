// SPDX-License-Identifier: Apache-2.0
// The pictures that a command line names: files, and folders with all pictures below them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trireme::cli {

struct PictureFiles {
  std::vector<std::filesystem::path> files;  // in the order of the command line; those of a folder sorted
  std::int64_t passed_over = 0;              // files in folders that are no .png, .jpg or .jpeg
  bool has_folder = false;
};

// Whether one of these is a folder, or a file that is called .png, .jpg or .jpeg.
bool name_pictures(const std::vector<std::string>& names);

// not_found if a folder has no picture below it.
PictureFiles find_pictures(const std::vector<std::string>& names);

}  // namespace trireme::cli
