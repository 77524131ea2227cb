// SPDX-License-Identifier: Apache-2.0
// cifar: the binary batches of CIFAR-10 and CIFAR-100.
#include <fmt/ranges.h>

#include <sstream>

#include "trireme/base/config.h"
#include "trireme/base/files.h"
#include "trireme/inspect/kind_entry.h"

namespace trireme::inspect::kinds {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kImage = 3072;

std::uintmax_t size_of(const fs::path& file) {
  std::error_code fault;
  const std::uintmax_t size = fs::file_size(file, fault);
  return fault ? 0 : size;
}

bool is_batch(const fs::path& file) {
  const std::uintmax_t size = size_of(file);
  return has_any_extension(file, {".bin"}) && size > 0 && (size % (kImage + 1) == 0 || size % (kImage + 2) == 0);
}

void add_class_names(const fs::path& file, Finding& finding) {
  std::error_code fault;
  if (!fs::is_regular_file(file, fault)) return;
  std::istringstream lines(read_file(file));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) names.push_back(toml_quoted(line));
  finding.options.push_back({"class_names", fmt::format("[{}]", fmt::join(names, ", ")), file.filename().string()});
}

std::optional<Finding> find(const Place& place, const Wishes& /*wishes*/) {
  const std::vector<fs::path> batches = place.files_if(is_batch);
  if (batches.empty()) return std::nullopt;
  const bool hundred = size_of(batches[0]) % (kImage + 1) != 0;
  Finding finding{
      .title = fmt::format("batches of CIFAR-{}", hundred ? 100 : 10), .reader = "cifar", .form = Form::pictures, .mirrors = true};
  for (const fs::path& batch : batches) {
    const bool test = part_in(batch.filename().string()) == PartName::test && batches.size() > 1;
    (test ? finding.test : finding.train).push_back(batch);
  }
  const fs::path folder = batches[0].parent_path();
  if (hundred) finding.options.push_back({"variant", "\"cifar100\"", "each record has two labels; the fine one counts"});
  add_class_names(folder / (hundred ? "fine_label_names.txt" : "batches.meta.txt"), finding);
  return finding;
}

}  // namespace

KindEntry cifar() { return {.name = "cifar", .looked_for = "binary batches of CIFAR (data_batch_1.bin ...)", .order = 50, .find = find}; }

}  // namespace trireme::inspect::kinds
