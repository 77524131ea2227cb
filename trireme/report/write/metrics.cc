// SPDX-License-Identifier: Apache-2.0
// Families of samples, each with its help and type.
#include "trireme/report/write/metrics.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace trireme::report {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string text_of(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) out += fmt::format("{}{}=\"{}\"", out.empty() ? "{" : ",", name, escaped(value));
  return out.empty() ? out : out + "}";
}

// A family is written with its first sample: one that has none is left out.
class Family {
 public:
  Family(std::string& out, std::string_view name, std::string_view type, std::string_view help)
      : out_(out), name_(name), head_(fmt::format("# HELP trireme_{} {}\n# TYPE trireme_{} {}\n", name, help, name, type)) {}

  void add(double value, const Labels& labels = {}) {
    if (std::isnan(value)) return;
    out_ += std::exchange(head_, {});
    out_ += fmt::format("trireme_{}{} {}\n", name_, text_of(labels), value);
  }

 private:
  std::string& out_;
  std::string_view name_;
  std::string head_;
};

Labels labels_of(const NodeFacts& node) {
  return {
      {"node", node.node}, {"rank", std::isnan(node.rank) ? "" : fmt::format("{}", node.rank)}, {"host", node.host}, {"duty", node.duty}};
}

Labels with(Labels labels, std::string_view name, std::string value) {
  labels.emplace_back(name, std::move(value));
  return labels;
}

double last_of(const Series& series, std::string_view column) {
  const std::vector<double>& values = series.at(column);
  return values.empty() ? kUnknown : values.back();
}

void write_run(const RunDocument& d, std::string& out) {
  Family(out, "run_info", "gauge", "What is trained; always 1.")
      .add(1, {{"run", d.run.name},
               {"job", d.run.job},
               {"model", d.run.model},
               {"data", d.run.data},
               {"strategy", d.run.strategy},
               {"version", d.run.trireme}});
  Family(out, "run_running", "gauge", "1 while the training goes on.").add(d.run.state == "running" ? 1 : 0);
  Family(out, "steps_total", "counter", "Steps of the training so far; a rollback takes some back.").add(d.progress.step);
  Family(out, "samples_total", "counter", "Samples trained on so far.").add(d.progress.samples_seen);
  Family(out, "epoch", "gauge", "The epoch that is trained, from 1.").add(d.progress.epoch);
  Family(out, "progress_ratio", "gauge", "Share of the training that is done.").add(d.progress.fraction);
  Family(out, "time_left_seconds", "gauge", "At the present speed.").add(d.progress.seconds_left);
  Family(out, "samples_per_second", "gauge", "Of all workers together, lately.").add(d.progress.samples_per_second);
  Family(out, "learning_rate", "gauge", "Of the last steps.").add(last_of(d.steps, "learning_rate"));
  Family loss(out, "loss", "gauge", "Mean loss of a sample.");
  loss.add(last_of(d.steps, "loss"), {{"set", "training"}});
  loss.add(last_of(d.epochs, "validation_loss"), {{"set", "validation"}});
  Family accuracy(out, "accuracy_ratio", "gauge", "Share of samples with the right answer.");
  accuracy.add(last_of(d.steps, "accuracy"), {{"set", "training"}});
  accuracy.add(last_of(d.epochs, "validation_accuracy"), {{"set", "validation"}});
}

void write_nodes(const RunDocument& d, std::string& out) {
  const auto family = [&](std::string_view name, std::string_view type, std::string_view help, double NodeFacts::*value) {
    Family samples(out, name, type, help);
    for (const NodeFacts& node : d.nodes) samples.add(node.*value, labels_of(node));
  };
  family("node_steps_total", "counter", "Steps of a node.", &NodeFacts::steps);
  family("node_samples_total", "counter", "Samples that a node has computed.", &NodeFacts::samples);
  family("node_memory_bytes", "gauge", "Resident memory of a node's process.", &NodeFacts::memory_bytes);
  family("node_cores_used", "gauge", "Processor time of a node's process in a second, lately.", &NodeFacts::cores_used);
  family("node_sent_bytes_total", "counter", "Contents that a node has sent to others.", &NodeFacts::bytes_sent);
  family("node_received_bytes_total", "counter", "Contents that a node has received from others.", &NodeFacts::bytes_received);
  Family up(out, "node_up", "gauge", "1 while a node takes part.");
  for (const NodeFacts& node : d.nodes) up.add(node.state == "training" ? 1 : 0, labels_of(node));
}

// Sums, so that rate() of one by rate() of node_steps_total is the mean of a step.
void write_anatomy(const RunDocument& d, std::string& out) {
  Family phases(out, "step_phase_seconds_total", "counter", "Time of a node's steps by what it went into.");
  for (const NodeFacts& node : d.nodes)
    for (const AnatomyPart& part : node.anatomy.parts)
      phases.add(part.seconds * node.anatomy.steps, with(labels_of(node), "phase", part.name));
  Family beside(out, "step_overlapped_seconds_total", "counter", "Work on other threads at the same time as the steps.");
  for (const NodeFacts& node : d.nodes)
    for (const AnatomyPart& part : node.anatomy.beside)
      beside.add(part.seconds * node.anatomy.steps, with(labels_of(node), "work", part.name));
}

void write_machines(const RunDocument& d, std::string& out) {
  Family cpu(out, "machine_cpu_ratio", "gauge", "Share of all cores, in the last second.");
  for (const MachineFacts& machine : d.machines)
    for (const char* mode : {"user", "system", "wait"})
      cpu.add(last_of(machine.series, fmt::format("cpu_{}", mode)), {{"host", machine.host}, {"mode", mode}});
  const auto family = [&](std::string_view name, std::string_view help, std::string_view column) {
    Family samples(out, name, "gauge", help);
    for (const MachineFacts& machine : d.machines) samples.add(last_of(machine.series, column), {{"host", machine.host}});
  };
  family("machine_memory_bytes", "In use.", "memory");
  family("machine_network_in_bytes_per_second", "Over all interfaces but loopback.", "network_in");
  family("machine_network_out_bytes_per_second", "Over all interfaces but loopback.", "network_out");
  family("machine_load1", "Threads that run or want to, mean over a minute.", "load");
  family("machine_temperature_celsius", "Of the hottest sensor.", "temperature");
  family("machine_power_watts", "Of the processor packages.", "power");
  Family total(out, "machine_memory_total_bytes", "gauge", "That there is.");
  for (const MachineFacts& machine : d.machines) total.add(machine.memory_total_bytes, {{"host", machine.host}});
}

void write_events(const RunDocument& d, std::string& out) {
  std::map<std::string, double> counts;
  for (const Event& event : d.events) ++counts[event.kind];
  Family events(out, "events_total", "counter", "What happened: nodes lost and joined, switches, checkpoints.");
  for (const auto& [kind, count] : counts) events.add(count, {{"kind", kind}});
}

}  // namespace

std::string to_metrics(const RunDocument& document) {
  std::string out;
  write_run(document, out);
  write_nodes(document, out);
  write_anatomy(document, out);
  write_machines(document, out);
  write_events(document, out);
  return out;
}

}  // namespace trireme::report
