// SPDX-License-Identifier: Apache-2.0
// What a run keeps of what its network learned: evaluation.json, mistakes.json, examples.json.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

class LearnedPart {
 public:
  // Reads the files again that have changed.
  void look(const std::filesystem::path& run);
  void write_to(RunDocument& document) const;
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // A file, read again when its time or size is another.
  struct Watched {
    std::filesystem::file_time_type time{};
    std::uintmax_t size = 0;
    std::string text;
    bool look(const std::filesystem::path& path);  // whether it has changed
  };

  Watched evaluation_file_, mistakes_, examples_;
  std::optional<Evaluation> evaluation_;
  std::vector<std::string> warnings_;
};

}  // namespace trireme::report
