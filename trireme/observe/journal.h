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

class AppendWatch;

using Value = std::variant<std::int64_t, double, bool, std::string>;
using Fields = std::vector<std::pair<std::string_view, Value>>;

// All calls may come from any thread.
class Journal {
 public:
  // Appends to `path`; a last line that a crash cut short is completed with a newline first, and readers skip it. With a watch a disk that
  // refuses records is no failure: they wait for it, in memory.
  explicit Journal(const std::filesystem::path& path, WallClock clock = std::chrono::system_clock::now, AppendWatch* watch = nullptr);
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  // {"type": type, "time": seconds since 1970, ...fields}. A number that is not finite is written as null. Lines are written at
  // once for every type but "step", which waits for the next other record, the first record after a second, or the end. Without a watch,
  // what could not be written is dropped and the fault thrown. With one, steps are the first to be dropped if too many records wait.
  void write(std::string_view type, const Fields& fields);
  void flush();            // to the system: what was written before survives this process
  void sync();             // to the disk
  bool is_behind() const;  // records wait for the disk; never waits for it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::observe
