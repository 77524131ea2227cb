// SPDX-License-Identifier: Apache-2.0
// Writes what nodes report of their profiled steps into a run's profile/NODE.jsonl; docs/tracing.md has the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::train {

// Lines on their way, none of them torn, in pieces that fit into a message each.
std::vector<std::string> pieces_of_lines(std::string_view lines);

// Not for several threads at once. A file that can't be written, or grows too large, is reported once and given up: training goes on.
class ProfileRecorder {
 public:
  explicit ProfileRecorder(const std::filesystem::path& run, std::function<void(const std::string& line)> say = {});
  void on_profile(const std::string& node, std::string_view lines);

 private:
  void give_up(const std::string& node, const std::string& why);

  std::filesystem::path folder_;
  std::function<void(const std::string&)> say_;
  std::map<std::string, std::int64_t> bytes_;  // by node; negative: given up
};

}  // namespace trireme::train
