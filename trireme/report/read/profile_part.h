// SPDX-License-Identifier: Apache-2.0
// Times of operators, from RUN/profile/<node>.jsonl of all nodes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

// What one node's file says, section by section: a node that holds parameters adds one without steps at the end, and a training that
// was resumed one more with them. Only those with profiled steps.
std::vector<OpProfile> read_profile(const std::filesystem::path& file);
// Means weighted by steps, so that every profiled step of every node counts once.
OpProfile joined(const std::vector<OpProfile>& profiles);

class ProfilePart {
 public:
  // Files that changed since the last look are read again, as a whole.
  void look(const std::filesystem::path& folder);
  std::optional<OpProfile> profile() const;

 private:
  struct File {
    std::uintmax_t size = 0;
    std::vector<OpProfile> sections;
  };
  std::map<std::string, File> files_;
};

}  // namespace trireme::report
