// SPDX-License-Identifier: Apache-2.0
// Parses profile lines; fields of newer or older programs may be missing.
#include "trireme/observe/profile_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "trireme/base/json.h"

namespace trireme::observe {
namespace {

template <class T>
void take(const Json& json, const char* field, T& value) {
  const auto found = json.find(field);
  if (found == json.end()) return;
  if constexpr (std::is_same_v<T, std::string>) {
    if (found->is_string()) value = found->get<std::string>();
  } else {
    if (found->is_number()) value = found->get<T>();
  }
}

constexpr double kMaxSeconds = 9e9;  // as nanoseconds, what an integer has room for

std::chrono::nanoseconds nanoseconds_of(double seconds) {
  return std::chrono::nanoseconds(std::abs(seconds) < kMaxSeconds ? std::llround(seconds * 1e9) : 0);
}

void take(const Json& json, const char* field, std::chrono::nanoseconds& value) {
  std::int64_t count = value.count();
  take(json, field, count);
  value = std::chrono::nanoseconds(count);
}

// Older programs wrote seconds, which are fractions of a microsecond off.
void take_times(const Json& json, ProfileSpan& span) {
  double begin = 0, seconds = 0;
  take(json, "begin", begin);
  take(json, "seconds", seconds);
  span.begin = nanoseconds_of(begin);
  take(json, "begin_ns", span.begin);
  span.end = span.begin + nanoseconds_of(seconds);
  take(json, "end_ns", span.end);
  span.end = std::max(span.begin, span.end);
}

ProfileMeta meta_of(const Json& json) {
  ProfileMeta meta;
  take(json, "node", meta.node);
  take(json, "host", meta.host);
  take(json, "rank", meta.rank);
  take(json, "clock_offset", meta.clock_offset);
  take(json, "clock_uncertainty", meta.clock_uncertainty);
  take(json, "own_time_ns", meta.own_time);
  take(json, "dropped_spans", meta.dropped_spans);
  return meta;
}

ProfileSpan span_of(const Json& json) {
  ProfileSpan span;
  take(json, "name", span.name);
  take(json, "category", span.category);
  take(json, "track", span.track);
  take_times(json, span);
  take(json, "sends", span.sends);
  take(json, "receives", span.receives);
  take(json, "step", span.step);
  take(json, "bytes", span.bytes);
  return span;
}

}  // namespace

void read_profile(const std::filesystem::path& file, const ProfileLines& lines) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const Json json = parse_json_or_discard(line);
    if (!json.is_object()) continue;
    std::string type;
    take(json, "type", type);
    if (type == "meta" && lines.meta) lines.meta(meta_of(json));
    if (type == "span" && lines.span) lines.span(span_of(json));
  }
}

}  // namespace trireme::observe
