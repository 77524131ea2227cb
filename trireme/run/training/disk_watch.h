// SPDX-License-Identifier: Apache-2.0
// Whether the disk of a run directory hangs, decided from when writes began and ended; without a clock, a thread or a disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/base/clock.h"

namespace trireme::run {

struct DiskWrite {
  std::string_view what;   // a literal: "journal", "checkpoint"
  std::int64_t bytes = 0;  // many may take longer: a slow disk does not hang
};

// What waits for the disk. A training waits for as long as it takes, its end and an interruption for a limited time.
enum class DiskWait { training, end, interruption };

class DiskWatch {
 public:
  explicit DiskWatch(std::string directory) : directory_(std::move(directory)) {}
  void rename(std::string directory) { directory_ = std::move(directory); }

  using Id = std::int64_t;
  Id begin(Seconds now, const DiskWrite& write);
  void end(Seconds now, Id id);

  struct Verdict {
    std::vector<std::string> lines;  // for the user
    bool gives_up = false;           // the process shall end without the disk
  };
  // Several times per second.
  Verdict look(Seconds now, DiskWait wait);

 private:
  struct Running {
    Id id = 0;
    DiskWrite write;
    Seconds begun{};
  };
  struct Hang {
    Seconds since{};
    Seconds reported_next{};
  };
  void report_hang(Seconds now, const std::vector<Running>& hanging, Verdict& out);
  void report_end(Verdict& out);
  void report_wait(Seconds now, const std::vector<Running>& hanging, Verdict& out);
  bool is_patience_over(Seconds now) const;
  std::vector<Running> hanging_writes(Seconds now) const;
  std::string hung_text(Seconds now, const std::vector<Running>& hanging) const;

  std::string directory_;
  std::vector<Running> running_;  // in the order they began
  Id last_id_ = 0;
  Seconds last_end_{};
  std::optional<Hang> hang_;
  DiskWait wait_ = DiskWait::training;
  Seconds waited_since_{};
  bool is_wait_reported_ = false;
};

}  // namespace trireme::run
