// SPDX-License-Identifier: Apache-2.0
// Scalars and texts for TensorBoard: directory/events.out.tfevents.<time>.<host>, a new file for each session.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "trireme/observe/wall_clock.h"

namespace trireme::observe {

class AppendWatch;

class EventFile {
 public:
  // With a watch, events wait in memory for a disk that refuses them.
  explicit EventFile(const std::filesystem::path& directory, WallClock clock = std::chrono::system_clock::now,
                     AppendWatch* watch = nullptr);
  ~EventFile();
  EventFile(EventFile&&) noexcept;
  EventFile& operator=(EventFile&&) noexcept;

  const std::filesystem::path& path() const;

  // After a resumption: what earlier files say of `step` and later ones is forgotten.
  void restart(std::int64_t step);
  void scalar(std::string_view tag, std::int64_t step, double value);
  void text(std::string_view tag, std::string_view markdown);  // e.g. the configuration
  void flush();                                                // events wait in memory, up to 64 KiB of them

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::observe
