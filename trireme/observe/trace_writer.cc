// SPDX-License-Identifier: Apache-2.0
// Chrome's trace event format: {"traceEvents": [...]}.
#include "trireme/observe/trace_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "trireme/base/error.h"
#include "trireme/base/json.h"

namespace trireme::observe {
namespace {

std::string json_text(std::string_view text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string value_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return json_text(*text);
  if (const auto* number = std::get_if<double>(&value)) return std::isfinite(*number) ? fmt::format("{}", *number) : "null";
  if (const auto* whether = std::get_if<bool>(&value)) return *whether ? "true" : "false";
  return fmt::format("{}", std::get<std::int64_t>(value));
}

// The format counts in microseconds. Readers multiply by 1000 in doubles and cut the rest off (Perfetto) or round; with two tenths of a
// nanosecond more, both get the number that was meant, and spans that touch still touch.
std::string microseconds(std::chrono::nanoseconds time) { return fmt::format("{}.{:03}2", time.count() / 1000, time.count() % 1000); }

}  // namespace

TraceWriter::TraceWriter(const std::filesystem::path& file, std::chrono::nanoseconds start)
    : path_(file), file_(file, std::ios::trunc), start_(start) {
  if (!file_) throw Error{not_found, "cannot write {}: is there such a folder, and may you write there?", file.string()};
  file_ << R"({"displayTimeUnit":"ms","otherData":{"start":)"
        << fmt::format("{}.{:09}", start.count() / 1'000'000'000, start.count() % 1'000'000'000) << "},\"traceEvents\":[";
}

void TraceWriter::begin_event() { file_ << (events_++ == 0 ? "\n" : ",\n"); }

std::string TraceWriter::since_start(std::chrono::nanoseconds time) const {
  ensure(time >= start_, "an event before the start of the trace");
  return microseconds(time - start_);
}

void TraceWriter::write_arguments(const Fields& arguments) {
  if (arguments.empty()) return;
  file_ << ",\"args\":{";
  for (std::size_t i = 0; i < arguments.size(); ++i)
    file_ << (i == 0 ? "" : ",") << json_text(arguments[i].first) << ':' << value_text(arguments[i].second);
  file_ << '}';
}

void TraceWriter::process(int number, const std::string& name) {
  begin_event();
  file_ << fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})", number, json_text(name));
  begin_event();
  file_ << fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{0},"tid":0,"args":{{"sort_index":{0}}}}})", number);
}

int TraceWriter::track_of(const Place& place) {
  const auto [found, is_new] = tracks_.try_emplace({place.process, std::string(place.track)}, static_cast<int>(tracks_.size()) + 1);
  if (!is_new) return found->second;
  begin_event();
  file_ << fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", place.process, found->second,
                       json_text(place.track));
  begin_event();
  file_ << fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", place.process,
                       found->second, found->second);
  return found->second;
}

void TraceWriter::slice(const Place& place, const Slice& slice, const Fields& arguments) {
  const int track = track_of(place);
  begin_event();
  file_ << fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{})", json_text(slice.name),
                       json_text(slice.category), place.process, track, since_start(slice.begin), microseconds(slice.end - slice.begin));
  write_arguments(arguments);
  file_ << '}';
}

void TraceWriter::flow(const Place& place, End end, std::string_view id, std::chrono::nanoseconds time) {
  const int track = track_of(place);
  begin_event();
  file_ << fmt::format(R"({{"ph":"{}","name":"message","cat":"message","id":{},"pid":{},"tid":{},"ts":{}{}}})",
                       end == End::leaves ? 's' : 'f', json_text(id), place.process, track, since_start(time),
                       end == End::leaves ? "" : R"(,"bp":"e")");
}

void TraceWriter::instant(std::string_view name, std::chrono::nanoseconds time, const Fields& arguments) {
  begin_event();
  file_ << fmt::format(R"({{"ph":"i","s":"g","name":{},"cat":"event","pid":0,"tid":0,"ts":{})", json_text(name), since_start(time));
  write_arguments(arguments);
  file_ << '}';
}

void TraceWriter::finish() {
  file_ << "\n]}\n";
  file_.close();
  if (!file_) throw Error{resource_exhausted, "{} could not be written to its end: is the disk full?", path_.string()};
}

}  // namespace trireme::observe
