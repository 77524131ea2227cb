// SPDX-License-Identifier: Apache-2.0
// Formats seconds, bytes, rates and shares for people.
#include "trireme/report/document/words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "trireme/base/table.h"

namespace trireme::report {
namespace {

constexpr const char* kNothing = "–";

}  // namespace

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return kNothing;
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  if (size < 0.9995e-3) return fmt::format("{:.3g} µs", 1e6 * seconds);
  if (size < 0.9995) return fmt::format("{:.3g} ms", 1e3 * seconds);
  if (size < 99.95) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<long long>(std::llround(size));
  return fmt::format("{}{}:{:02}:{:02}", seconds < 0 ? "-" : "", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string percent(double share) {
  if (!std::isfinite(share)) return kNothing;
  const double size = std::abs(100 * share);
  return fmt::format("{:.{}f} %", 100 * share, size >= 9.95 || size == 0 ? 0 : size >= 0.995 ? 1 : 2);
}

std::string signed_percent(double share) { return std::isfinite(share) && share > 0 ? "+" + percent(share) : percent(share); }

std::string bytes(double count) {
  if (!std::isfinite(count)) return kNothing;
  static constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; std::abs(count) >= 999.5 && unit + 1 < kUnits.size(); ++unit) count /= 1000;
  return unit == 0 ? fmt::format("{:.0f} B", count) : fmt::format("{:.3g} {}", count, kUnits[unit]);
}

std::string rate(double bytes_per_second) { return std::isfinite(bytes_per_second) ? bytes(bytes_per_second) + "/s" : kNothing; }

std::string fixed(double value, int digits) { return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : kNothing; }

std::string plain(double value) {
  if (!std::isfinite(value)) return kNothing;
  if (value == std::floor(value) && std::abs(value) < 1e15) return with_thousands(static_cast<long long>(value));
  return fmt::format("{:.4g}", value);
}

}  // namespace trireme::report
