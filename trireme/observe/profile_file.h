// SPDX-License-Identifier: Apache-2.0
// Reads profile/NODE.jsonl of a run, line by line; docs/tracing.md has the format.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace trireme::observe {

struct ProfileMeta {
  std::string node, host;
  int rank = 0;
  double clock_offset = 0;  // seconds, to be added to the times of the lines that follow
  double clock_uncertainty = 0;
  std::chrono::nanoseconds own_time{0};  // to be subtracted from them to get the node's monotonic clock
  std::int64_t dropped_spans = 0;
};

struct ProfileSpan {
  std::string name, category, track;
  std::chrono::nanoseconds begin{0}, end{0};  // since 1970, by the node's own clock
  std::string sends, receives;                // what begins and what ends in it; empty: nothing
  std::int64_t step = 0;                      // 0: of none
  std::int64_t bytes = -1;                    // negative: unknown
};

struct ProfileLines {
  std::function<void(const ProfileMeta&)> meta;
  std::function<void(const ProfileSpan&)> span;
};

// Passes over lines that are damaged or of another type. Nothing happens if there is no such file.
void read_profile(const std::filesystem::path& file, const ProfileLines& lines);

}  // namespace trireme::observe
