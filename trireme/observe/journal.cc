// SPDX-License-Identifier: Apache-2.0
// Appends records as JSON lines; a line is whole or not there.
#include "trireme/observe/journal.h"

#include <fstream>
#include <mutex>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/base/json.h"
#include "trireme/observe/append_file.h"

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
  State(const std::filesystem::path& path, WallClock wall_clock, AppendWatch* watch, bool is_cut)
      : file(path, AppendFile::Mode::append, watch), clock(std::move(wall_clock)), written(clock()), cut(is_cut) {}

  std::mutex mutex;
  AppendFile file;
  WallClock clock;
  std::string waiting;
  std::int64_t waiting_lines = 0;
  std::chrono::system_clock::time_point written;
  bool cut;  // the file ends within a line

  void add(const std::string& line) {
    waiting += line;
    ++waiting_lines;
  }
  void pass_on(AppendFile::Loss loss) {
    std::string lines = std::exchange(waiting, {});
    const std::int64_t count = std::exchange(waiting_lines, 0);
    if (lines.empty()) return;
    if (cut) lines.insert(0, "\n");
    file.append(lines, count, loss);
    cut = false;
    written = clock();
  }
  void flush() {
    pass_on(AppendFile::Loss::early);
    file.retry();
  }
};

Journal::Journal(const std::filesystem::path& path, WallClock clock, AppendWatch* watch)
    : state_(std::make_unique<State>(path, std::move(clock), watch, ends_within_a_line(path))) {}

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
  const bool is_step = type == "step";
  if (!is_step && state_->file.is_behind())
    state_->pass_on(AppendFile::Loss::early);  // apart from a record that must not be lost with them
  state_->add(line_of(seconds_since_1970(now), type, fields));
  const bool in_time = now >= state_->written && now - state_->written < kMaxWait;  // the time of day can go back
  if (!is_step || !in_time) state_->pass_on(is_step ? AppendFile::Loss::early : AppendFile::Loss::late);
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

bool Journal::is_behind() const { return state_->file.is_behind(); }

}  // namespace trireme::observe
