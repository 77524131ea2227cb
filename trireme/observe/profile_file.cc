// SPDX-License-Identifier: Apache-2.0
// Parses profile lines; fields of newer or older programs may be missing.
#include "trireme/observe/profile_file.h"

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

ProfileMeta meta_of(const Json& json) {
  ProfileMeta meta;
  take(json, "node", meta.node);
  take(json, "host", meta.host);
  take(json, "rank", meta.rank);
  take(json, "clock_offset", meta.clock_offset);
  take(json, "clock_uncertainty", meta.clock_uncertainty);
  take(json, "dropped_spans", meta.dropped_spans);
  return meta;
}

ProfileSpan span_of(const Json& json) {
  ProfileSpan span;
  take(json, "name", span.name);
  take(json, "category", span.category);
  take(json, "track", span.track);
  take(json, "begin", span.begin);
  take(json, "seconds", span.seconds);
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
