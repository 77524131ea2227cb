// SPDX-License-Identifier: Apache-2.0
// Prints the progress of a fetch: one line that is rewritten on a terminal, few lines elsewhere.
#include "trireme/run/terminal/fetch_progress.h"

#include <fmt/format.h>

namespace trireme::run {
namespace {

constexpr Seconds kTerminalPause{0.1};  // between two rewrites of the line
constexpr Seconds kPlainPause{10};      // between two lines where nothing can be rewritten

double megabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

}  // namespace

void FetchProgress::line(std::string_view text) {
  if (settings_.terminal) out_ << "\r\033[K";
  out_ << text << std::endl;
}

void FetchProgress::trying(std::string_view source) { line(fmt::format("from {}", source)); }

void FetchProgress::received(std::string_view file, std::int64_t bytes, std::int64_t total) {
  const Seconds now = clock_.now();
  if (file != file_ || bytes < before_) {
    file_ = file;
    started_ = last_shown_ = now;
    before_ = bytes;
  }
  if (now - last_shown_ < (settings_.terminal ? kTerminalPause : kPlainPause)) return;
  last_shown_ = now;
  const double rate = megabytes(bytes - before_) / (now - started_).count();
  const std::string of = total > 0 ? fmt::format(" of {:.1f}", megabytes(total)) : "";
  const std::string text = fmt::format("  {}  {:.1f}{} MB  {:.1f} MB/s", file, megabytes(bytes), of, rate);
  if (settings_.terminal)
    out_ << "\r\033[K" << text << std::flush;
  else
    line(text);
}

void FetchProgress::refused(std::string_view /*source*/, std::string_view why) { line(fmt::format("  no: {}", why)); }

void FetchProgress::unpacking(std::string_view file) { line(fmt::format("  unpacking {}", file)); }

void FetchProgress::verified(std::string_view file, std::int64_t bytes) {
  line(fmt::format("  {}  {:.1f} MB, verified", file, megabytes(bytes)));
}

void FetchProgress::waiting() { line("waiting for another fetch of the same set"); }

}  // namespace trireme::run
