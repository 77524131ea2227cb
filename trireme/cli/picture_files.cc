// SPDX-License-Identifier: Apache-2.0
// Expands folders; hidden files are passed over, links to folders not followed.
#include "trireme/cli/picture_files.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/data/formats/folder.h"

namespace trireme::cli {
namespace {

bool is_picture(const std::filesystem::path& file) {
  static constexpr std::array<std::string_view, 3> kExtensions{".png", ".jpg", ".jpeg"};
  return std::ranges::any_of(kExtensions, [&](std::string_view extension) { return data::has_extension(file, extension); });
}

}  // namespace

bool name_pictures(const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [](const std::string& name) {
    std::error_code ignored;
    return is_picture(name) || std::filesystem::is_directory(name, ignored);
  });
}

PictureFiles find_pictures(const std::vector<std::string>& names) {
  PictureFiles found;
  for (const std::string& name : names) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(name, ignored)) {
      found.files.emplace_back(name);  // a file that is not there is reported when it is read
      continue;
    }
    found.has_folder = true;
    const std::size_t before = found.files.size();
    for (const std::filesystem::path& file : data::files_below(name)) {
      if (is_picture(file))
        found.files.push_back(file);
      else
        ++found.passed_over;
    }
    if (found.files.size() == before) throw Error{not_found, "{}: there is no .png, .jpg or .jpeg in this folder or below it", name};
  }
  return found;
}

}  // namespace trireme::cli
