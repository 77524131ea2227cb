// SPDX-License-Identifier: Apache-2.0
// Writes a trace for Perfetto and chrome://tracing, event by event: nothing of it is kept in memory but the names of tracks.
#pragma once

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
  // Times that follow are seconds since 1970; in the file `start` is 0, so that microseconds keep their fractions.
  TraceWriter(const std::filesystem::path& file, double start);

  void process(int number, const std::string& name);
  struct Place {
    int process = 0;
    std::string_view track;  // made known when it is first used, in the order of first use
  };
  struct Slice {
    std::string_view name;
    std::string_view category;
    double begin = 0;
    double seconds = 0;
  };
  void slice(const Place& place, const Slice& slice, const Fields& arguments = {});
  // From a slice, or into one: where it holds at this time.
  enum class End { leaves, arrives };
  void flow(const Place& place, End end, std::string_view id, double time);
  void instant(std::string_view name, double time, const Fields& arguments);  // of all processes
  // Throws if anything could not be written.
  void finish();

  std::int64_t events() const { return events_; }

 private:
  void begin_event();
  void write_arguments(const Fields& arguments);
  int track_of(const Place& place);
  std::string microseconds(double seconds) const;

  std::filesystem::path path_;
  std::ofstream file_;
  double start_;
  std::int64_t events_ = 0;
  std::map<std::pair<int, std::string>, int, std::less<>> tracks_;
};

}  // namespace trireme::observe
