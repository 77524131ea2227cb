// SPDX-License-Identifier: Apache-2.0
// Appends records as JSON lines; a line is whole or not there.
#include "trireme/observe/journal.h"

#include <fstream>
#include <mutex>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"

namespace trireme::observe {
namespace {

constexpr std::chrono::seconds kMaxWait{1};

std::string line_of(double time, std::string_view type, const Fields& fields) {
  Json json = {{"type", type}, {"time", time}};
  for (const auto& [name, value] : fields) {
    ensure(!json.contains(name), "a record has each field once");
    Json& entry = json[std::string(name)];  // clang 14 captures no structured binding
    std::visit([&](const auto& content) { entry = content; }, value);
  }
  // A path that is no UTF-8 must not stop a training.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool ends_within_a_line(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() == 0) return false;
  in.seekg(-1, std::ios::end);
  return in.get() != '\n';
}

}  // namespace

struct Journal::State {
  State(const std::filesystem::path& path, WallClock wall_clock, bool is_cut)
      : file(path, OutputFile::Mode::append), clock(std::move(wall_clock)), written(clock()), cut(is_cut) {}

  std::mutex mutex;
  OutputFile file;
  WallClock clock;
  std::string waiting;
  std::chrono::system_clock::time_point written;
  bool cut;  // the file ends within a line

  void flush() {
    std::string lines = std::exchange(waiting, {});
    if (lines.empty()) return;
    if (std::exchange(cut, true)) lines.insert(0, "\n");
    file.write(lines);
    cut = false;
    written = clock();
  }
};

Journal::Journal(const std::filesystem::path& path, WallClock clock)
    : state_(std::make_unique<State>(path, std::move(clock), ends_within_a_line(path))) {}

Journal::~Journal() {
  if (!state_) return;
  try {
    state_->flush();
  } catch (const Error&) {  // a destructor must not throw; only steps are still unwritten
  }
}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;

void Journal::write(std::string_view type, const Fields& fields) {
  const std::lock_guard lock(state_->mutex);
  const auto now = state_->clock();
  state_->waiting += line_of(seconds_since_1970(now), type, fields);
  const bool in_time = now >= state_->written && now - state_->written < kMaxWait;  // the time of day can go back
  if (type != "step" || !in_time) state_->flush();
}

void Journal::flush() {
  const std::lock_guard lock(state_->mutex);
  state_->flush();
}

void Journal::sync() {
  const std::lock_guard lock(state_->mutex);
  state_->flush();
  failpoint("journal.sync");
  state_->file.sync();
}

}  // namespace trireme::observe
