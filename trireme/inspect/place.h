// SPDX-License-Identifier: Apache-2.0
// The path that is inspected: a file, or a folder with its entries.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::inspect {

class Place {
 public:
  // not_found if nothing is there, unavailable if a folder can't be listed.
  explicit Place(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }  // absolute
  bool is_folder() const { return is_folder_; }
  // The file itself, or what lies directly in the folder, sorted; no hidden ones.
  const std::vector<std::filesystem::path>& files() const { return files_; }
  const std::vector<std::filesystem::path>& folders() const { return folders_; }

  std::vector<std::filesystem::path> files_if(const std::function<bool(const std::filesystem::path&)>& wanted) const;
  // "3 .txt, 1 .doc", of everything below it.
  std::string contents() const;

 private:
  std::filesystem::path path_;
  bool is_folder_ = false;
  std::vector<std::filesystem::path> files_;
  std::vector<std::filesystem::path> folders_;
};

// Whether the name, without .gz and .xz, ends in one of `extensions`.
bool has_any_extension(const std::filesystem::path& file, std::initializer_list<std::string_view> extensions);

// In lower case.
std::string lower(std::string_view text);

// What people call parts of a data set: train or training, test, val or valid or validation. Anything else is none.
enum class PartName { none, train, validation, test };
PartName part_name(std::string_view name);  // of a folder
PartName part_in(std::string_view file);    // "train.csv", "pets_test-00000-of-00002"

// The name for a message: below `root`, relative to it.
std::string name_below(const std::filesystem::path& path, const std::filesystem::path& root);

// "airplane 200, bird 180 and 8 more"
std::string some_of(const std::vector<std::string>& items, std::size_t shown, std::string_view rest = "more");

// "1 picture", "2,000 pictures"
std::string counted(std::int64_t count, std::string_view one, std::string_view many = "");

}  // namespace trireme::inspect
