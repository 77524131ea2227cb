// SPDX-License-Identifier: Apache-2.0
// Writes a profile as JSON lines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trireme/base/json.h"
#include "trireme/train/loop/profile_data.h"

namespace trireme::train {
namespace {

void add_line(std::string& text, const Json& json) {
  text += json.dump(-1, ' ', false, Json::error_handler_t::replace);
  text += '\n';
}

// What are equal as seconds are equal here. The sum of two times in seconds would be rounded to a quarter of a microsecond.
std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

Json meta(const ProfileData& data, const ProfileOrigin& origin) {
  return {{"type", "meta"},
          {"node", origin.node},
          {"host", origin.host},
          {"rank", origin.rank},
          {"clock_offset", origin.clock_offset},
          {"clock_uncertainty", origin.clock_uncertainty},
          {"own_time_ns", nanoseconds(origin.own_time)},
          {"first_step", data.first_step},
          {"last_step", data.last_step},
          {"steps", data.ops.steps()},
          {"step_seconds", data.ops.step_seconds()},
          {"spans", data.spans.spans.size()},
          {"dropped_spans", data.spans.dropped}};
}

std::string hexadecimal(std::uint64_t flow) { return fmt::format("{:x}", flow); }

Json line_of(const observe::Span& span, std::int64_t own_time) {
  Json json{{"type", "span"},
            {"name", span.name},
            {"category", span.category},
            {"track", span.track},
            {"begin_ns", nanoseconds(span.begin) + own_time},
            {"end_ns", nanoseconds(span.end) + own_time}};
  if (span.step != 0) json["step"] = span.step;
  if (span.bytes >= 0) json["bytes"] = span.bytes;
  if (span.sends != 0) json["sends"] = hexadecimal(span.sends);
  if (span.receives != 0) json["receives"] = hexadecimal(span.receives);
  return json;
}

Json line_of(const OpProfile& profile, const OpProfile::Key& key, const OpStatistics& op) {
  const auto& [name, category, pass] = key;
  const double seconds = op.wall.mean(profile.steps());
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, profile.steps()));
  Json json{{"type", op.is_beside ? "beside" : "op"},
            {"name", name},
            {"category", category},
            {"pass", pass},
            {"calls", op.calls},
            {"seconds", seconds},
            {"spread", op.wall.deviation(profile.steps())},
            {"share", profile.step_seconds() > 0 ? seconds / profile.step_seconds() : 0}};
  if (!op.fused.empty()) json["fused"] = op.fused;
  if (op.thread_seconds > 0) json["thread_seconds"] = op.thread_seconds / steps;
  if (op.flops > 0 && seconds > 0) json["flops_per_second"] = op.flops / steps / seconds;
  if (op.bytes > 0) json["bytes"] = op.bytes / steps;
  if (op.bytes > 0 && seconds > 0) json["bytes_per_second"] = op.bytes / steps / seconds;
  return json;
}

}  // namespace

std::string profile_lines(const ProfileData& data, const ProfileOrigin& origin) {
  std::string text;
  add_line(text, meta(data, origin));
  for (const observe::Span& span : data.spans.spans) add_line(text, line_of(span, nanoseconds(origin.own_time)));
  for (const auto& [key, op] : data.ops.rows()) add_line(text, line_of(data.ops, key, op));
  for (const auto& [category, seconds] : data.ops.categories()) {
    const double mean = seconds.mean(data.ops.steps());
    add_line(text, {{"type", "category"},
                    {"category", category},
                    {"seconds", mean},
                    {"spread", seconds.deviation(data.ops.steps())},
                    {"share", data.ops.step_seconds() > 0 ? mean / data.ops.step_seconds() : 0}});
  }
  return text;
}

}  // namespace trireme::train
