// SPDX-License-Identifier: Apache-2.0
// Records `node` of the telemetry to what a node did.
#include "trireme/report/read/node_use.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trireme/report/read/fields.h"

namespace trireme::report {
namespace {

constexpr std::size_t kRecent = 10;  // records over which a running node's speed is computed
constexpr std::size_t kMaxPending = 200'000;

std::vector<std::string> part_names() {
  std::vector<std::string> names{"time"};
  for (const std::string_view field : node_part_fields().of_step) names.push_back(part_name(field));
  names.emplace_back("steps");
  return names;
}

StepSums sums_of(const observe::Record& record) {
  StepSums sums{.steps = number_or(record, "steps", 0), .seconds = number_or(record, "seconds", 0)};
  const PartFields& fields = node_part_fields();
  for (std::size_t i = 0; i < sums.parts.size(); ++i) sums.parts[i] = number_or(record, fields.of_step[i], 0);
  for (std::size_t i = 0; i < sums.beside.size(); ++i) sums.beside[i] = number_or(record, fields.beside[i], 0);
  return sums;
}

void add_parts(Bins& bins, double time, const StepSums& sums) {
  if (!(sums.steps > 0)) return;
  std::vector<double> row{time};
  row.insert(row.end(), sums.parts.begin(), sums.parts.end());
  row.push_back(sums.steps);
  bins.add(row);
}

// Sums of a bin divided by its steps, so that a window of many steps counts more.
Series per_step(const Bins& bins) {
  Series series = bins.series();
  const std::vector<double> steps = series.at("steps");
  std::erase_if(series.columns, [](const auto& column) { return column.first == "steps"; });
  for (auto& [name, values] : series.columns)
    for (std::size_t i = 0; i < values.size() && name != "time"; ++i) values[i] /= steps[i];
  return series;
}

void update(double& value, double told) {
  if (std::isfinite(told)) value = told;
}
void update(std::string& value, std::string told) {
  if (!told.empty()) value = std::move(told);
}
void accumulate(double& sum, double told) {
  if (std::isfinite(told)) sum = std::isfinite(sum) ? sum + told : told;
}

// "10" after "9".
bool is_before(const NodeFacts& a, const NodeFacts& b) {
  return a.node.size() != b.node.size() ? a.node.size() < b.node.size() : a.node < b.node;
}

}  // namespace

NodesPart::Node::Node() : parts(part_names()) {}
NodesPart::NodesPart() : parts_(part_names()) {}

void NodesPart::take(const observe::Record& record) {
  if (truth(record, "baseline")) return;
  const std::string name = word(record, "node");
  Node& node = nodes_[name];
  NodeFacts& facts = node.facts;
  facts.node = name;
  update(facts.host, word(record, "host"));
  update(facts.duty, word(record, "duty"));
  update(facts.rank, number(record, "rank"));
  update(facts.share, number(record, "share"));
  update(facts.memory_bytes, number(record, "memory_bytes"));
  facts.memory_max_bytes = std::fmax(facts.memory_max_bytes, facts.memory_bytes);
  accumulate(facts.bytes_sent, number(record, "bytes_sent"));
  accumulate(facts.bytes_received, number(record, "bytes_received"));
  node.last_time = std::max(node.last_time, record.time);

  const double window = number_or(record, "window_seconds", 1) > 0 ? number_or(record, "window_seconds", 1) : 1;
  const double cpu = number(record, "cpu_user_seconds") + number(record, "cpu_system_seconds");
  const double samples = number_or(record, "samples", 0);
  facts.samples += samples;
  node.series.add(std::array{record.time, cpu / window, number(record, "memory_bytes"), number(record, "bytes_sent") / window,
                             number(record, "bytes_received") / window, samples / window});
  const StepSums sums = sums_of(record);
  node.sums.add(sums);
  add_parts(node.parts, record.time, sums);
  add_parts(parts_, record.time, sums);
  const Use use{
      .time = record.time - window / 2, .cpu_seconds = cpu, .seconds = window, .samples = samples, .sample_seconds = sums.seconds};
  if (node.pending.size() < kMaxPending) node.pending.push_back(use);
  node.recent.push_back(use);
  if (node.recent.size() > kRecent) node.recent.pop_front();
}

void NodesPart::settle(const RunWindow& window) {
  for (auto& [name, node] : nodes_) {
    std::vector<Use> later;
    for (const Use& use : node.pending) {
      const RunWindow::Place place = window.place(use.time);
      if (place == RunWindow::Place::later) later.push_back(use);
      if (place != RunWindow::Place::inside || !std::isfinite(use.cpu_seconds)) continue;
      node.cpu_seconds += use.cpu_seconds;
      node.seconds += use.seconds;
    }
    node.pending = std::move(later);
  }
}

NodeFacts NodesPart::facts_of(const Node& node, const RunDocument& document, const std::map<std::string, double>& lost) const {
  NodeFacts facts = node.facts;
  const bool is_running = document.run.state == "running";
  const auto gone = lost.find(facts.node);
  const bool is_lost = gone != lost.end() && node.last_time <= gone->second + 2;  // one that came back speaks again
  facts.state = is_lost ? "lost" : is_running ? "training" : "ended";
  facts.steps = node.sums.steps;
  facts.cores_used = node.seconds > 0 ? node.cpu_seconds / node.seconds : kUnknown;
  double samples = facts.samples, seconds = node.sums.seconds;
  if (is_running) {
    samples = seconds = 0;
    for (const Use& use : node.recent) {
      samples += use.samples;
      seconds += use.seconds;
    }
  }
  facts.samples_per_second = seconds > 0 ? samples / seconds : kUnknown;
  facts.series = node.series.series();
  const auto table = tables_.find(facts.node);
  const bool has_table = table != tables_.end() && table->second.moments().count() > 0;
  facts.anatomy = has_table ? table->second.moments().anatomy() : anatomy_of(node.sums);
  facts.anatomy.series = per_step(node.parts);
  return facts;
}

void NodesPart::write_anatomy(Anatomy& anatomy) const {
  StepMoments moments;
  for (const auto& [name, table] : tables_) moments.join(table.moments());
  StepSums sums;
  for (const auto& [name, node] : nodes_) sums.add(node.sums);
  if (moments.count() > 0)
    anatomy = moments.anatomy();
  else if (sums.steps > 0)
    anatomy = anatomy_of(sums);
  anatomy.series = per_step(parts_);
}

void NodesPart::write_to(RunDocument& document, const std::map<std::string, double>& lost) const {
  document.nodes.clear();
  for (const auto& [name, node] : nodes_) document.nodes.push_back(facts_of(node, document, lost));
  std::ranges::sort(document.nodes, is_before);
  write_anatomy(document.anatomy);
}

}  // namespace trireme::report
