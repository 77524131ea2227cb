// SPDX-License-Identifier: Apache-2.0
// Two passes over the profiles: the first learns clocks and messages, the second writes.
#include "trireme/cli/run_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/cli/step_rows.h"
#include "trireme/observe/clock_alignment.h"
#include "trireme/observe/journal_reader.h"
#include "trireme/observe/journal_version.h"
#include "trireme/observe/profile_file.h"
#include "trireme/observe/trace_writer.h"

namespace trireme::cli {
namespace {

using observe::ProfileMeta;
using observe::ProfileSpan;
using observe::TraceWriter;

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
const std::set<std::string, std::less<>> kEvents{"generation", "lost",      "switch",    "checkpoint", "resume",
                                                 "straggler",  "slow_link", "interrupt", "end"};

struct Node {
  std::string name, host;
  int rank = -1;
  int process = 0;
  std::filesystem::path profile, steps;
  std::deque<observe::StepAnatomy> rows;
  double shift = 0;                                        // that messages ask for
  double first = std::numeric_limits<double>::infinity();  // of the steps that are wanted, on the coordinator's clock ...
  double last = -std::numeric_limits<double>::infinity();  // ... without the shift
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
    for (Node& node : nodes_) learn(node);
    name_processes();
    align();
    TraceWriter writer(order_.file, std::isfinite(start_) ? start_ : 0);
    for (const Node& node : nodes_) {
      writer.process(node.process, fmt::format("rank {}: node {}{}", node.rank, node.name, node.host.empty() ? "" : " on " + node.host));
      write_steps(writer, node);
      write_spans(writer, node);
    }
    write_events(writer);
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
    start_ = std::min(start_, node.first);
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
  bool is_wanted(const Node& node, const ProfileSpan& span, double begin) const {
    if (!order_.steps) return true;
    if (span.step != 0) return span.step >= order_.steps->first && span.step <= order_.steps->last;
    return begin >= node.first && begin <= node.last;
  }

  void learn(Node& node) {
    const int number = static_cast<int>(&node - nodes_.data());
    ProfileMeta meta;
    observe::read_profile(node.profile, {.meta =
                                             [&](const ProfileMeta& read) {
                                               meta = read;
                                               node.rank = meta.rank;
                                               if (!meta.host.empty()) node.host = meta.host;
                                               facts_.dropped_spans += meta.dropped_spans;
                                               facts_.clock_uncertainty = std::max(facts_.clock_uncertainty, meta.clock_uncertainty);
                                             },
                                         .span =
                                             [&](const ProfileSpan& span) {
                                               const double begin = span.begin + meta.clock_offset;
                                               if (!is_wanted(node, span, begin)) return;
                                               start_ = std::min(start_, begin);
                                               if (!span.sends.empty()) messages_.sent(span.sends, number, begin);
                                               if (!span.receives.empty()) messages_.received(span.receives, number, begin + span.seconds);
                                             }});
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
      nodes_[static_cast<std::size_t>(number)].shift = shift;
      facts_.clock_shift = std::max(facts_.clock_shift, std::abs(shift));
    }
  }

  static void write_steps(TraceWriter& writer, const Node& node) {
    double end = 0, exchanged = 0;
    for (const observe::StepAnatomy& row : node.rows) {
      const double begin = std::max(end, row.start + node.shift);
      end = std::max(begin, row.start + node.shift + row.seconds);
      writer.slice(
          {node.process, "steps"}, {fmt::format("step {}", row.step), "step", begin, end - begin},
          {{"epoch", row.epoch + 1}, {"samples", row.samples}, {"bytes_sent", row.bytes_sent}, {"bytes_received", row.bytes_received}});
      double at = begin, exposed_end = begin;
      describe(row, [&](const observe::Field& field, const auto& seconds) {
        if (field.part != observe::Part::of_step) return;
        const double length = std::min(static_cast<double>(seconds), end - at);
        if (length > 0) writer.slice({node.process, "steps"}, {phase_name(field.name), "phase", at, length});
        at += std::max(0.0, length);
        if (field.name == "exposed_seconds") exposed_end = at;
      });
      // Only its length is known: it ends when no worker waits for it any more.
      const double from = std::max(exchanged, exposed_end - row.exchange_seconds);
      if (row.exchange_seconds > 0 && exposed_end > from)
        writer.slice({node.process, "exchange of steps"}, {"exchange", "exchange", from, exposed_end - from});
      exchanged = std::max(exchanged, exposed_end);
    }
  }

  void write_spans(TraceWriter& writer, const Node& node) {
    ProfileMeta meta;
    observe::read_profile(node.profile, {.meta = [&](const ProfileMeta& read) { meta = read; },
                                         .span =
                                             [&](const ProfileSpan& span) {
                                               const double begin = span.begin + meta.clock_offset;
                                               if (is_wanted(node, span, begin)) write_span(writer, node, span, begin + node.shift);
                                             }});
  }

  void write_span(TraceWriter& writer, const Node& node, const ProfileSpan& span, double begin) {
    const TraceWriter::Place place{node.process, span.track};
    observe::Fields arguments;
    if (span.step != 0) arguments.emplace_back("step", span.step);
    if (span.bytes >= 0) arguments.emplace_back("bytes", span.bytes);
    writer.slice(place, {span.name, span.category, begin, span.seconds}, arguments);
    ++facts_.profiled_spans;
    if (!span.sends.empty() && messages_.is_complete(span.sends)) writer.flow(place, TraceWriter::End::leaves, span.sends, begin);
    if (span.receives.empty() || !messages_.is_complete(span.receives)) return;
    ++facts_.messages;
    writer.flow(place, TraceWriter::End::arrives, span.receives, begin + span.seconds);
  }

  void write_events(TraceWriter& writer) const {
    for_each_record(run_.journal(), [&](const observe::Record& record) {
      if (!kEvents.contains(record.type)) return;
      if (order_.steps && !is_within(record.time)) return;
      observe::Fields arguments;
      for (const auto& [name, value] : record.fields) arguments.emplace_back(name, value);
      writer.instant(record.type, record.time, arguments);
    });
  }

  bool is_within(double time) const {
    return std::ranges::any_of(nodes_, [&](const Node& node) { return time >= node.first && time <= node.last; });
  }

  const train::RunDirectory& run_;
  const TraceOrder& order_;
  std::vector<Node> nodes_;
  observe::ClockAlignment messages_;
  double start_ = std::numeric_limits<double>::infinity();
  TraceFacts facts_;
};

}  // namespace

TraceFacts write_trace(const train::RunDirectory& run, const TraceOrder& order) { return RunTrace(run, order).write(); }

}  // namespace trireme::cli
