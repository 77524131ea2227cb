// SPDX-License-Identifier: Apache-2.0
// Checks of labels and of the number of records.
#include "trireme/data/formats/class_count.h"

#include <algorithm>
#include <string>

#include "trireme/base/error.h"

namespace trireme::data {

std::int32_t checked_label(std::int64_t label, std::int64_t classes, std::string_view place) {
  const std::int64_t limit = classes > 0 ? classes : kMaxClasses;
  if (label < 0 || label >= limit) throw Error{data_loss, "{}: expected a label from 0 to {}, found {}", place, limit - 1, label};
  return static_cast<std::int32_t>(label);
}

std::int64_t count_classes(std::span<const std::int32_t> labels, std::int64_t classes) {
  if (classes > 0 || labels.empty()) return classes;
  return std::int64_t{*std::ranges::max_element(labels)} + 1;
}

void check_record_count(std::int64_t expected, std::int64_t found, const std::vector<std::filesystem::path>& files,
                        const std::vector<std::int64_t>& file_starts) {
  if (expected == 0 || expected == found) return;
  constexpr std::size_t kMaxNamed = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(files.size(), kMaxNamed); ++i) {
    const std::int64_t end = i + 1 < file_starts.size() ? file_starts[i + 1] : found;
    list += fmt::format("{}{} has {}", list.empty() ? "" : ", ", files[i].string(), end - file_starts[i]);
  }
  if (files.size() > kMaxNamed) list += ", ...";
  throw Error{data_loss, "expected {} records, found {}: {}", expected, found, list};
}

}  // namespace trireme::data
