// SPDX-License-Identifier: Apache-2.0
// Limits of writes, and the lines about those that pass them.
#include "trireme/run/training/disk_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace trireme::run {
namespace {

constexpr double kNamedAfter = 4;          // seconds ...
constexpr double kSlowDisk = 20e6;         // ... and those that a disk of so many bytes per second needs
constexpr double kLeftAfter = 10;          // the same for a write that an interruption does not wait for:
constexpr double kSlowestDisk = 2e6;       // to leave a checkpoint unfinished costs more than a line
constexpr double kReportedAgainFrom = 10;  // seconds; then whenever the hang is twice as long

double limit(const DiskWrite& write, double seconds, double bytes_per_second) {
  return seconds + static_cast<double>(write.bytes) / bytes_per_second;
}

double patience(DiskWait wait) { return wait == DiskWait::interruption ? 10 : 600; }

}  // namespace

DiskWatch::Id DiskWatch::begin(Seconds now, const DiskWrite& write) {
  running_.push_back({.id = ++last_id_, .write = write, .begun = now});
  return last_id_;
}

void DiskWatch::end(Seconds now, Id id) {
  std::erase_if(running_, [id](const Running& running) { return running.id == id; });
  last_end_ = now;
}

DiskWatch::Verdict DiskWatch::look(Seconds now, DiskWait wait) {
  if (std::exchange(wait_, wait) != wait) {
    waited_since_ = now;
    is_wait_reported_ = false;
  }
  Verdict out;
  const std::vector<Running> hanging = hanging_writes(now);
  if (!hanging.empty()) report_hang(now, hanging, out);
  if (hanging.empty() && hang_) report_end(out);
  if (hang_ && wait != DiskWait::training) report_wait(now, hanging, out);
  return out;
}

void DiskWatch::report_hang(Seconds now, const std::vector<Running>& hanging, Verdict& out) {
  if (!hang_) hang_ = Hang{.since = hanging.front().begun, .reported_next = now};
  if (now < hang_->reported_next) return;
  hang_->reported_next = now + std::max(now - hang_->since, Seconds(kReportedAgainFrom));
  out.lines.push_back(
      fmt::format("{}: check the disk or mount. Records wait in memory; checkpoints, changes of membership and the end of the training "
                  "wait for the disk",
                  hung_text(now, hanging)));
}

void DiskWatch::report_end(Verdict& out) {
  out.lines.push_back(
      fmt::format("the run directory {} takes writes again, after {:.0f} s", directory_, (last_end_ - hang_->since).count()));
  hang_.reset();
  is_wait_reported_ = false;
}

void DiskWatch::report_wait(Seconds now, const std::vector<Running>& hanging, Verdict& out) {
  if (!std::exchange(is_wait_reported_, true))
    out.lines.push_back(
        fmt::format("the run directory {} is waited for up to {:.0f} s; then this process ends without it", directory_, patience(wait_)));
  if (!is_patience_over(now)) return;
  out.gives_up = true;
  out.lines.push_back(
      fmt::format("{}: ended without it. Records since then, and a checkpoint that was being written, may be missing. When the disk is "
                  "back, continue with\n  trireme train --resume {}",
                  hung_text(now, hanging), directory_));
}

bool DiskWatch::is_patience_over(Seconds now) const {
  return (now - waited_since_).count() >= patience(wait_) && std::ranges::any_of(running_, [&](const Running& running) {
           return (now - running.begun).count() >= limit(running.write, kLeftAfter, kSlowestDisk);
         });
}

std::vector<DiskWatch::Running> DiskWatch::hanging_writes(Seconds now) const {
  std::vector<Running> hanging;
  std::ranges::copy_if(running_, std::back_inserter(hanging), [&](const Running& running) {
    return (now - running.begun).count() >= limit(running.write, kNamedAfter, kSlowDisk);
  });
  return hanging;
}

std::string DiskWatch::hung_text(Seconds now, const std::vector<Running>& hanging) const {
  std::string names;
  for (const Running& running : hanging) names += fmt::format("{}{}", names.empty() ? "" : ", ", running.write.what);
  return fmt::format("the run directory {} has not taken a write for {:.0f} s ({})", directory_, (now - hang_->since).count(), names);
}

}  // namespace trireme::run
