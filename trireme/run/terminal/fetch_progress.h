// SPDX-License-Identifier: Apache-2.0
// A fetch as people follow it: one line that renews itself on a terminal, a line for each thing that is done elsewhere.
#pragma once

#include <ostream>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/fetch/progress.h"

namespace trireme::run {

class FetchProgress final : public fetch::Progress {
 public:
  struct Settings {
    bool terminal = false;  // may lines be rewritten?
  };
  FetchProgress(std::ostream& out, const Clock& clock, const Settings& settings) : out_(out), clock_(clock), settings_(settings) {}

  void trying(std::string_view source) override;
  void received(std::string_view file, std::int64_t bytes, std::int64_t total) override;
  void refused(std::string_view source, std::string_view why) override;
  void unpacking(std::string_view file) override;
  void verified(std::string_view file, std::int64_t bytes) override;
  void waiting() override;

 private:
  void line(std::string_view text);

  std::ostream& out_;
  const Clock& clock_;
  Settings settings_;
  std::string file_;         // now on its way
  Seconds started_{0};       // when its first bytes came
  std::int64_t before_ = 0;  // bytes that an earlier attempt had brought
  Seconds last_shown_{-1};
};

}  // namespace trireme::run
