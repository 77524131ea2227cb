// SPDX-License-Identifier: Apache-2.0
// Scalars for TensorBoard: directory/events.out.tfevents.<time>.<host>
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace trireme::observe {

class EventFile {
 public:
  explicit EventFile(const std::filesystem::path& directory);
  ~EventFile();
  EventFile(EventFile&&) noexcept;
  EventFile& operator=(EventFile&&) noexcept;

  void scalar(std::string_view tag, std::int64_t step, double value);
  void text(std::string_view tag, std::string_view markdown);  // e.g. the configuration
  void flush();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::observe
