// SPDX-License-Identifier: Apache-2.0
// Refusals and recoveries in words, and as records.
#include "trireme/run/training/record_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace trireme::run {

void RecordWatch::on_refused(const std::filesystem::path& file, const Error& why) {
  const std::lock_guard lock(mutex_);
  const bool is_first = refused_.empty();
  refused_.insert(file.string());
  if (!is_first) return;
  refused_since_ = options_.clock.now();
  records_.push_back({"disk_failure", {{"host", options_.host}, {"file", file.string()}, {"error", std::string(why.what())}}});
  options_.say(fmt::format("warning: {} (machine {}): records of this run wait in memory, the training goes on; free space", why.what(),
                           options_.host));
}

void RecordWatch::on_lost(const std::filesystem::path& file, std::int64_t records) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(lost_[file.string()], lost_[file.string()] + records) > 0) return;
  options_.say(fmt::format("warning: too many records wait for {}: steps are left out of it until there is room", file.string()));
}

void RecordWatch::on_written(const std::filesystem::path& file) {
  const std::lock_guard lock(mutex_);
  refused_.erase(file.string());
  if (!refused_.empty()) return;
  const double seconds = (options_.clock.now() - refused_since_).count();
  std::int64_t lost = 0;
  for (const auto& [name, records] : lost_) lost += records;
  records_.push_back({"disk_recovered", {{"host", options_.host}, {"seconds", seconds}, {"lost", lost}}});
  options_.say(fmt::format("the records of this run are written again, after {:.0f} s; {}", seconds, lost_text()));
  lost_.clear();
}

std::string RecordWatch::lost_text() const {
  if (lost_.empty()) return "none is lost";
  std::vector<std::string> parts;
  for (const auto& [file, records] : lost_) parts.push_back(fmt::format("{} of {}", records, file));
  return fmt::format("lost: {}", fmt::join(parts, ", "));
}

bool RecordWatch::is_behind() const {
  const std::lock_guard lock(mutex_);
  return !refused_.empty();
}

std::string RecordWatch::missing() const {
  const std::lock_guard lock(mutex_);
  return fmt::format("{}", fmt::join(refused_, ", "));
}

std::vector<RecordWatch::Record> RecordWatch::take_records() {
  const std::lock_guard lock(mutex_);
  return std::exchange(records_, {});
}

}  // namespace trireme::run
