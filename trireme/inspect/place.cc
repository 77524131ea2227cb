// SPDX-License-Identifier: Apache-2.0
// Listing a path, and the names that people give to parts of their data.
#include "trireme/inspect/place.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "trireme/base/error.h"
#include "trireme/base/table.h"
#include "trireme/data/formats/folder.h"

namespace trireme::inspect {

namespace fs = std::filesystem;

Place::Place(const fs::path& path) : path_(fs::absolute(path).lexically_normal()) {
  if (!path_.has_filename()) path_ = path_.parent_path();
  std::error_code fault;
  const fs::file_status status = fs::status(path_, fault);
  if (!fs::exists(status))
    throw Error{not_found, "{}: there is no such file or folder; give the folder or file that has your data", path.string()};
  is_folder_ = fs::is_directory(status);
  if (!is_folder_) {
    files_.push_back(path_);
    return;
  }
  for (const fs::path& entry : data::entries_of(path_)) (fs::is_directory(entry, fault) ? folders_ : files_).push_back(entry);
}

std::vector<fs::path> Place::files_if(const std::function<bool(const fs::path&)>& wanted) const {
  std::vector<fs::path> found;
  std::ranges::copy_if(files_, std::back_inserter(found), wanted);
  return found;
}

std::string Place::contents() const {
  std::map<std::string, int> counts;
  for (const fs::path& file : is_folder_ ? data::files_below(path_) : files_) {
    const std::string extension = lower(file.extension().string());
    ++counts[extension.empty() ? "without an extension" : extension];
  }
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater{}, &std::pair<std::string, int>::second);
  std::vector<std::string> items;
  for (const auto& [extension, count] : sorted) items.push_back(fmt::format("{} {}", count, extension));
  return items.empty() ? "nothing" : some_of(items, 6, "other kinds");
}

bool has_any_extension(const fs::path& file, std::initializer_list<std::string_view> extensions) {
  fs::path name = file.filename();
  if (data::has_extension(name, ".gz") || data::has_extension(name, ".xz")) name = name.stem();
  return std::ranges::any_of(extensions, [&](std::string_view extension) { return data::has_extension(name, extension); });
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

PartName part_name(std::string_view name) {
  const std::string word = lower(name);
  if (word == "train" || word == "training") return PartName::train;
  if (word == "test" || word == "testing") return PartName::test;
  return word == "val" || word == "valid" || word == "validation" || word == "dev" ? PartName::validation : PartName::none;
}

PartName part_in(std::string_view file) {
  std::string word;
  for (const char c : lower(file) + ".") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += c;
      continue;
    }
    if (const PartName part = part_name(word); part != PartName::none) return part;
    word.clear();
  }
  return PartName::none;
}

std::string name_below(const fs::path& path, const fs::path& root) {
  const fs::path name = path.lexically_relative(root);
  return name.empty() || name.string().starts_with("..") ? path.string() : name.string();
}

std::string some_of(const std::vector<std::string>& items, std::size_t shown, std::string_view rest) {
  const std::size_t count = items.size() > shown + 1 ? shown : items.size();
  const std::string text = fmt::format("{}", fmt::join(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count), ", "));
  return count == items.size() ? text
                               : fmt::format("{} and {} {}", text, with_thousands(static_cast<long long>(items.size() - count)), rest);
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return fmt::format("{} {}", with_thousands(count), many.empty() ? std::string(one) + "s" : std::string(many));
}

}  // namespace trireme::inspect
