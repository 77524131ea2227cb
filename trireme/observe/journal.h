// SPDX-License-Identifier: Apache-2.0
// The journal of a run: one JSON object a line, appended as things happen; docs/journal.md describes every record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "trireme/observe/wall_clock.h"

namespace trireme::observe {

using Value = std::variant<std::int64_t, double, bool, std::string>;
using Fields = std::vector<std::pair<std::string_view, Value>>;

// All calls may come from any thread.
class Journal {
 public:
  // Appends to `path`; a last line that a crash cut short is completed with a newline first, and readers skip it.
  explicit Journal(const std::filesystem::path& path, WallClock clock = std::chrono::system_clock::now);
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  // {"type": type, "time": seconds since 1970, ...fields}. A number that is not finite is written as null. Lines are written at
  // once for every type but "step", which waits for the next other record, the first record after a second, or the end. What could
  // not be written is dropped and the fault thrown; later records go on a new line.
  void write(std::string_view type, const Fields& fields);
  void flush();  // to the system: what was written before survives this process
  void sync();   // to the disk

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::observe
