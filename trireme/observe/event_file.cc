// SPDX-License-Identifier: Apache-2.0
// Protocol buffers in the framing of TFRecord.
#include "trireme/observe/event_file.h"

#include <unistd.h>

#include <array>
#include <string>
#include <system_error>
#include <utility>

#include "trireme/base/crc32c.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/host.h"
#include "trireme/observe/append_file.h"
#include "trireme/wire/event.pb.h"

namespace trireme::observe {
namespace {

constexpr std::size_t kMaxWait = std::size_t{64} << 10;  // bytes
constexpr std::int32_t kStringType = 7;                  // TensorFlow's DT_STRING
constexpr int kMaxFiles = 1000;                          // of one directory and second

// Two sessions may begin in the same second: the later one's name is longer, so it sorts behind.
std::filesystem::path free_path(const std::filesystem::path& directory, std::chrono::system_clock::time_point now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::string host = host_name();
  const std::string name = fmt::format("events.out.tfevents.{:010}.{}", seconds, host.empty() ? "unknown" : host);
  std::error_code ignored;  // opening it will show
  for (int number = 1; number < kMaxFiles; ++number) {
    auto path = directory / (number == 1 ? name : fmt::format("{}.{:03}", name, number));
    if (!std::filesystem::exists(path, ignored)) return path;
  }
  throw Error{resource_exhausted, "{} has {} event files of one second", directory.string(), kMaxFiles};
}

}  // namespace

struct EventFile::State {
  State(std::filesystem::path path, WallClock wall_clock, AppendWatch* watch)
      : clock(std::move(wall_clock)), file(std::move(path), AppendFile::Mode::create, watch) {}

  WallClock clock;
  AppendFile file;
  std::string waiting;
  std::int64_t waiting_events = 0;

  void add(wire::Event event) {
    event.set_wall_time(seconds_since_1970(clock()));
    waiting += framed_record(event.SerializeAsString());
    ++waiting_events;
    if (waiting.size() >= kMaxWait) flush();
  }
  void flush() {
    const std::string events = std::exchange(waiting, {});
    file.append(events, std::exchange(waiting_events, 0));
    file.retry();
  }
};

EventFile::EventFile(const std::filesystem::path& directory, WallClock clock, AppendWatch* watch) {
  make_directories(directory);
  auto path = free_path(directory, clock());
  state_ = std::make_unique<State>(std::move(path), std::move(clock), watch);
  wire::Event version;
  version.set_file_version("brain.Event:2");
  state_->add(std::move(version));
  flush();
}

EventFile::~EventFile() {
  if (!state_) return;
  try {
    state_->flush();
  } catch (const Error&) {  // a destructor must not throw; the journal has the same numbers
  }
}
EventFile::EventFile(EventFile&&) noexcept = default;
EventFile& EventFile::operator=(EventFile&&) noexcept = default;

const std::filesystem::path& EventFile::path() const { return state_->file.path(); }

void EventFile::restart(std::int64_t step) {
  wire::Event event;
  event.set_step(step);
  event.mutable_session_log()->set_status(wire::SessionLog::START);
  state_->add(std::move(event));
}

void EventFile::scalar(std::string_view tag, std::int64_t step, double value) {
  wire::Event event;
  event.set_step(step);
  auto* entry = event.mutable_summary()->add_value();
  entry->set_tag(std::string(tag));
  entry->set_simple_value(static_cast<float>(value));
  state_->add(std::move(event));
}

void EventFile::text(std::string_view tag, std::string_view markdown) {
  wire::Event event;
  auto* entry = event.mutable_summary()->add_value();
  entry->set_tag(std::string(tag));
  entry->mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  entry->mutable_tensor()->set_dtype(kStringType);
  entry->mutable_tensor()->mutable_tensor_shape();  // no extents: a scalar
  entry->mutable_tensor()->add_string_val(std::string(markdown));
  state_->add(std::move(event));
}

void EventFile::flush() { state_->flush(); }

}  // namespace trireme::observe
