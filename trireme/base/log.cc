// SPDX-License-Identifier: Apache-2.0
// Log lines through spdlog's thread-safe stderr sink.
#include "trireme/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <string>

namespace trireme {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

struct Log::State {
  spdlog::logger logger;
};

Log::Log(LogLevel level, std::string_view prefix)
    : state_(std::make_shared<State>(State{spdlog::logger("trireme", std::make_shared<spdlog::sinks::stderr_color_sink_mt>())})) {
  state_->logger.set_level(spdlog_level(level));
  state_->logger.set_pattern("%H:%M:%S.%e %^%l%$ " + std::string(prefix) + "%v");
}

void Log::write(LogLevel level, std::string_view line) const { state_->logger.log(spdlog_level(level), "{}", line); }

}  // namespace trireme
