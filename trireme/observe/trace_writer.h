// SPDX-License-Identifier: Apache-2.0
// Writes a trace for Perfetto and chrome://tracing, event by event: nothing of it is kept in memory but the names of tracks.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "trireme/observe/journal.h"

namespace trireme::observe {

class TraceWriter {
 public:
  // Times that follow are since 1970 and not before `start`, which is 0 in the file.
  TraceWriter(const std::filesystem::path& file, std::chrono::nanoseconds start);

  void process(int number, const std::string& name);
  struct Place {
    int process = 0;
    std::string_view track;  // made known when it is first used, in the order of first use
  };
  struct Slice {
    std::string_view name;
    std::string_view category;
    std::chrono::nanoseconds begin{0};
    std::chrono::nanoseconds end{0};
  };
  // Of a track in the order of `comes_first`, each inside of another or beside it: readers drop what overlaps.
  void slice(const Place& place, const Slice& slice, const Fields& arguments = {});
  // From a slice, or into one: where it holds at this time.
  enum class End { leaves, arrives };
  void flow(const Place& place, End end, std::string_view id, std::chrono::nanoseconds time);
  void instant(std::string_view name, std::chrono::nanoseconds time, const Fields& arguments);  // of all processes
  // Throws if anything could not be written.
  void finish();

  std::int64_t events() const { return events_; }

 private:
  void begin_event();
  void write_arguments(const Fields& arguments);
  int track_of(const Place& place);
  std::string since_start(std::chrono::nanoseconds time) const;

  std::filesystem::path path_;
  std::ofstream file_;
  std::chrono::nanoseconds start_;
  std::int64_t events_ = 0;
  std::map<std::pair<int, std::string>, int, std::less<>> tracks_;
};

}  // namespace trireme::observe
