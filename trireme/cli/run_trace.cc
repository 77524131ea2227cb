// SPDX-License-Identifier: Apache-2.0
// Reads all nodes, corrects their clocks, and writes what they did in whole nanoseconds.
#include "trireme/cli/run_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/cli/step_rows.h"
#include "trireme/observe/clock_alignment.h"
#include "trireme/observe/journal_reader.h"
#include "trireme/observe/journal_version.h"
#include "trireme/observe/profile_file.h"
#include "trireme/observe/span_nesting.h"
#include "trireme/observe/trace_writer.h"

namespace trireme::cli {
namespace {

using observe::ProfileMeta;
using observe::ProfileSpan;
using observe::TraceWriter;

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
const std::set<std::string, std::less<>> kEvents{"generation",   "lost",          "switch",    "checkpoint", "resume",
                                                 "straggler",    "slow_link",     "interrupt", "end",        "checkpoint_failed",
                                                 "disk_failure", "disk_recovered"};

using std::chrono::nanoseconds;

nanoseconds nanoseconds_of(double seconds) { return nanoseconds(std::llround(seconds * 1e9)); }
double seconds_of(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

struct Track {
  std::string name;
  std::vector<ProfileSpan> spans;
};

struct Node {
  std::string name, host;
  int rank = -1;
  int process = 0;
  std::filesystem::path profile, steps;
  std::deque<observe::StepAnatomy> rows;
  std::vector<Track> tracks;                               // of the profile, on the coordinator's clock without the shift
  nanoseconds shift{0};                                    // that messages ask for
  nanoseconds start = nanoseconds::max();                  // of everything that is written, without the shift
  double first = std::numeric_limits<double>::infinity();  // of the steps that are wanted, on the coordinator's clock ...
  double last = -std::numeric_limits<double>::infinity();  // ... without the shift

  Track& track(const std::string& of) {
    const auto found = std::ranges::find(tracks, of, &Track::name);
    return found != tracks.end() ? *found : tracks.emplace_back(Track{.name = of});
  }
};

// A section of a profile has its own estimate of the coordinator's clock. Those that agree as far as they can know share the first, so
// that what a node did one after another stays so.
class SectionClock {
 public:
  void begin_section(const ProfileMeta& meta) {
    const nanoseconds of_monotonic = meta.own_time + nanoseconds_of(meta.clock_offset);
    const nanoseconds doubt = nanoseconds_of(meta.clock_uncertainty) + kJitter;
    if (!is_known_ || std::chrono::abs(of_monotonic - of_monotonic_) > doubt + doubt_) {
      of_monotonic_ = of_monotonic;
      doubt_ = doubt;
    }
    is_known_ = true;
    correction_ = of_monotonic_ - meta.own_time;
  }
  nanoseconds correction() const { return correction_; }

 private:
  static constexpr nanoseconds kJitter = std::chrono::milliseconds(1);  // of reading two clocks

  bool is_known_ = false;
  nanoseconds of_monotonic_{0}, doubt_{0}, correction_{0};
};

// By number if they are numbers.
bool comes_before(const Node& a, const Node& b) { return std::pair(a.name.size(), a.name) < std::pair(b.name.size(), b.name); }

std::vector<Node> find_nodes(const std::filesystem::path& run) {
  std::map<std::string, Node> nodes;
  const auto look = [&](const char* folder, const char* ending, std::filesystem::path Node::*file) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(run / folder, none)) {
      if (entry.path().extension() != ending) continue;
      Node& node = nodes[entry.path().stem().string()];
      node.name = entry.path().stem().string();
      node.*file = entry.path();
    }
  };
  look("profile", ".jsonl", &Node::profile);
  look("steps", ".csv", &Node::steps);
  std::vector<Node> found;
  for (auto& [name, node] : nodes) found.push_back(std::move(node));
  std::ranges::sort(found, comes_before);
  return found;
}

void for_each_record(const std::filesystem::path& file, const std::function<void(const observe::Record&)>& use) {
  std::ifstream in(file);
  observe::JournalUpgrade upgrade;
  for (std::string line; std::getline(in, line);) {
    try {
      auto record = observe::parse_record(line);
      if (!record) continue;
      upgrade.apply(*record);
      use(*record);
    } catch (const Error&) {  // a damaged line is no reason to show nothing of the others
    }
  }
}

// As the profiler calls them: "input wait" of "input_wait_seconds".
std::string phase_name(std::string_view field) {
  if (field == "exposed_seconds") return "exchange exposed";
  std::string name(field.substr(0, field.rfind("_seconds")));
  std::ranges::replace(name, '_', ' ');
  return name;
}

class RunTrace {
 public:
  RunTrace(const train::RunDirectory& run, const TraceOrder& order) : run_(run), order_(order), nodes_(find_nodes(run.path())) {
    if (nodes_.empty())
      throw Error{not_found,
                  "{} has no steps and no profile: it was made by an older trireme, or ended before its first step; train again, "
                  "with --profile \"steps 100-119\" to see every op",
                  run.path().string()};
  }

  TraceFacts write() {
    for (Node& node : nodes_) read_steps(node);
    read_duties();
    for (Node& node : nodes_) read_spans(node);
    read_events();
    name_processes();
    align();
    TraceWriter writer(order_.file, start());
    for (Node& node : nodes_) {
      writer.process(node.process, fmt::format("rank {}: node {}{}", node.rank, node.name, node.host.empty() ? "" : " on " + node.host));
      write_steps(writer, node);
      for (Track& track : node.tracks) write_track(writer, node, track);
    }
    for (const observe::Record& event : events_) write_event(writer, event);
    writer.finish();
    facts_.events = writer.events();
    facts_.nodes = static_cast<std::int64_t>(nodes_.size());
    return facts_;
  }

 private:
  void read_steps(Node& node) {
    const StepRange range = order_.steps.value_or(StepRange{.first = 0, .last = kAll});
    node.rows = read_step_rows(node.steps, range.first, range.last, static_cast<std::size_t>(order_.most_steps));
    for (const observe::StepAnatomy& row : node.rows) {
      node.first = std::min(node.first, row.start);
      node.last = std::max(node.last, row.start + row.seconds);
    }
    if (!node.rows.empty()) node.start = nanoseconds_of(node.first);
  }

  void read_duties() {
    for_each_record(run_.path() / "telemetry.jsonl", [&](const observe::Record& record) {
      if (record.type != "node" || record.find("node") == nullptr) return;
      const auto node = std::ranges::find(nodes_, record.text("node"), &Node::name);
      if (node == nodes_.end()) return;
      if (record.find("host") != nullptr) node->host = record.text("host");
      if (record.find("rank") != nullptr) node->rank = static_cast<int>(record.integer("rank"));
    });
  }

  // Spans of steps outside of the wanted ones are left out; those of no step go by their time.
  bool is_wanted(const Node& node, const ProfileSpan& span) const {
    if (!order_.steps) return true;
    if (span.step != 0) return span.step >= order_.steps->first && span.step <= order_.steps->last;
    const double begin = seconds_of(span.begin);
    return begin >= node.first && begin <= node.last;
  }

  void read_spans(Node& node) {
    SectionClock clock;
    const auto use_meta = [&](const ProfileMeta& meta) {
      clock.begin_section(meta);
      node.rank = meta.rank;
      if (!meta.host.empty()) node.host = meta.host;
      facts_.dropped_spans += meta.dropped_spans;
      facts_.clock_uncertainty = std::max(facts_.clock_uncertainty, meta.clock_uncertainty);
    };
    const auto use_span = [&](ProfileSpan span) {
      span.begin += clock.correction();
      span.end += clock.correction();
      if (!is_wanted(node, span)) return;
      node.start = std::min(node.start, span.begin);
      learn_messages(node, span);
      node.track(span.track).spans.push_back(std::move(span));
    };
    observe::read_profile(node.profile, {.meta = use_meta, .span = use_span});
  }

  // In seconds since some moment of the run: of those since 1970 a double has no nanoseconds.
  void learn_messages(const Node& node, const ProfileSpan& span) {
    const int number = static_cast<int>(&node - nodes_.data());
    if (!origin_) origin_ = span.begin;
    if (!span.sends.empty()) messages_.sent(span.sends, number, seconds_of(span.begin - *origin_));
    if (!span.receives.empty()) messages_.received(span.receives, number, seconds_of(span.end - *origin_));
  }

  void read_events() {
    for_each_record(run_.journal(), [&](const observe::Record& record) {
      if (kEvents.contains(record.type) && (!order_.steps || is_within(record.time))) events_.push_back(record);
    });
  }

  // The first moment of anything that is written: nothing may have a negative time.
  nanoseconds start() const {
    nanoseconds first = nanoseconds::max();
    for (const Node& node : nodes_)
      if (node.start != nanoseconds::max()) first = std::min(first, node.start + node.shift);
    for (const observe::Record& event : events_) first = std::min(first, nanoseconds_of(event.time));
    return first == nanoseconds::max() ? nanoseconds(0) : first;
  }

  // A node that took another's place has the same rank.
  void name_processes() {
    std::set<int> taken;
    for (Node& node : nodes_) {
      if (node.rank < 0) node.rank = static_cast<int>(&node - nodes_.data());
      node.process = node.rank;
      while (!taken.insert(node.process).second) node.process += 1000;
    }
  }

  void align() {
    for (const auto& [number, shift] : messages_.shifts()) {
      nodes_[static_cast<std::size_t>(number)].shift = nanoseconds_of(shift);
      facts_.clock_shift = std::max(facts_.clock_shift, std::abs(shift));
    }
  }

  static void write_steps(TraceWriter& writer, const Node& node) {
    const TraceWriter::Place place{node.process, "steps"};
    nanoseconds end{0}, exchanged{0};
    for (const observe::StepAnatomy& row : node.rows) {
      const nanoseconds start = nanoseconds_of(row.start) + node.shift;
      const nanoseconds begin = std::max(end, start);
      end = std::max(begin, start + nanoseconds_of(row.seconds));
      writer.slice(
          place, {fmt::format("step {}", row.step), "step", begin, end},
          {{"epoch", row.epoch + 1}, {"samples", row.samples}, {"bytes_sent", row.bytes_sent}, {"bytes_received", row.bytes_received}});
      const nanoseconds exposed_end = write_phases(writer, place, row, {begin, end});
      // Only its length is known: it ends when no worker waits for it any more.
      const nanoseconds from = std::max(exchanged, exposed_end - nanoseconds_of(row.exchange_seconds));
      if (row.exchange_seconds > 0 && exposed_end > from)
        writer.slice({node.process, "exchange of steps"}, {"exchange", "exchange", from, exposed_end});
      exchanged = std::max(exchanged, exposed_end);
    }
  }

  // Returns when no worker waits for the exchange any more.
  static nanoseconds write_phases(TraceWriter& writer, const TraceWriter::Place& place, const observe::StepAnatomy& row,
                                  const observe::Extent& step) {
    nanoseconds at = step.begin, exposed_end = step.begin;
    describe(row, [&](const observe::Field& field, const auto& seconds) {
      if (field.part != observe::Part::of_step) return;
      const nanoseconds end = std::clamp(at + nanoseconds_of(static_cast<double>(seconds)), at, step.end);
      if (end > at) writer.slice(place, {phase_name(field.name), "phase", at, end});
      at = end;
      if (field.name == "exposed_seconds") exposed_end = at;
    });
    return exposed_end;
  }

  void write_track(TraceWriter& writer, const Node& node, Track& track) {
    const auto extent_of = [&](const ProfileSpan& span) { return observe::Extent{span.begin + node.shift, span.end + node.shift}; };
    std::ranges::stable_sort(track.spans, observe::comes_first, extent_of);
    std::vector<observe::Extent> extents;
    for (const ProfileSpan& span : track.spans) extents.push_back(extent_of(span));
    const std::vector<int> rows = observe::nest(extents);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::string row = rows[i] == 0 ? track.name : fmt::format("{} ({})", track.name, rows[i] + 1);
      write_span(writer, {node.process, row}, track.spans[i], extents[i]);
    }
  }

  void write_span(TraceWriter& writer, const TraceWriter::Place& place, const ProfileSpan& span, const observe::Extent& extent) {
    observe::Fields arguments;
    if (span.step != 0) arguments.emplace_back("step", span.step);
    if (span.bytes >= 0) arguments.emplace_back("bytes", span.bytes);
    writer.slice(place, {span.name, span.category, extent.begin, extent.end}, arguments);
    ++facts_.profiled_spans;
    if (!span.sends.empty() && messages_.is_complete(span.sends)) writer.flow(place, TraceWriter::End::leaves, span.sends, extent.begin);
    if (span.receives.empty() || !messages_.is_complete(span.receives)) return;
    ++facts_.messages;
    writer.flow(place, TraceWriter::End::arrives, span.receives, extent.end);
  }

  static void write_event(TraceWriter& writer, const observe::Record& record) {
    observe::Fields arguments;
    for (const auto& [name, value] : record.fields) arguments.emplace_back(name, value);
    writer.instant(record.type, nanoseconds_of(record.time), arguments);
  }

  bool is_within(double time) const {
    return std::ranges::any_of(nodes_, [&](const Node& node) { return time >= node.first && time <= node.last; });
  }

  const train::RunDirectory& run_;
  const TraceOrder& order_;
  std::vector<Node> nodes_;
  observe::ClockAlignment messages_;
  std::optional<nanoseconds> origin_;  // of messages
  std::vector<observe::Record> events_;
  TraceFacts facts_;
};

}  // namespace

TraceFacts write_trace(const train::RunDirectory& run, const TraceOrder& order) { return RunTrace(run, order).write(); }

}  // namespace trireme::cli
