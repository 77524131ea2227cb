// SPDX-License-Identifier: Apache-2.0
// Records `machine` of the telemetry to series and summaries.
#include "trireme/report/read/machine_use.h"

#include <algorithm>
#include <cmath>

#include "trireme/report/read/fields.h"

namespace trireme::report {
namespace {

constexpr double kForgottenAfter = 3.5;  // seconds without a word from a machine; then it is not part of the sum any more
constexpr std::size_t kMaxPending = 200'000;

std::vector<std::string> names() {
  std::vector<std::string> list{"time"};
  for (const SeriesField& field : machine_series_fields()) list.emplace_back(field.series);
  return list;
}

std::vector<std::string_view> optional_names() {
  std::vector<std::string_view> list;
  for (const SeriesField& field : machine_series_fields())
    if (field.is_optional) list.push_back(field.series);
  return list;
}

double busy(const MachineSample& sample) { return sample.value("cpu_user") + sample.value("cpu_system"); }

// What is unknown of one machine does not make the sum unknown.
void add_known(double& sum, double value) {
  if (!std::isfinite(value)) return;
  sum = std::isfinite(sum) ? sum + value : value;
}

// Means become sums over cores, which the caller divides.
void combine(double& all, double value, observe::Combine how, double cores) {
  if (how == observe::Combine::max)
    all = std::fmax(all, value);
  else
    add_known(all, how == observe::Combine::mean ? value * cores : value);
}

double sum_of(const std::vector<Baseline>& list, double Baseline::*field) {
  double sum = kUnknown;
  for (const Baseline& baseline : list) add_known(sum, baseline.*field);
  return sum;
}

}  // namespace

MachineSample machine_sample(const observe::Record& record) {
  MachineSample sample{.host = word(record, "host"),
                       .time = record.time,
                       .seconds = number_or(record, "seconds", 1),
                       .cores = number_or(record, "cores", 1)};
  if (!(sample.seconds > 0)) sample.seconds = 1;
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    const SeriesField& field = machine_series_fields()[i];
    sample.values[i] = number(record, field.name) / (field.is_rate ? sample.seconds : 1);
  }
  return sample;
}

double MachineSample::value(std::string_view series) const {
  const auto& fields = machine_series_fields();
  const auto place = static_cast<std::size_t>(std::ranges::find(fields, series, &SeriesField::series) - fields.begin());
  return place < values.size() ? values[place] : kUnknown;
}

MachineUse::MachineUse() : series_(names()), extremes_(machine_series_fields().size()) {}

void MachineUse::show(const MachineSample& sample) {
  std::vector<double> row{sample.time};
  row.insert(row.end(), sample.values.begin(), sample.values.end());
  series_.add(row);
}

void MachineUse::count(const MachineSample& sample) {
  for (std::size_t i = 0; i < extremes_.size(); ++i) extremes_[i].add(sample.values[i], sample.seconds);
  cpu_.add(busy(sample), sample.seconds);
}

void MachineUse::write_to(MachineFacts& facts) const {
  facts.series = series_.series(optional_names());
  facts.summary = {{"cpu", cpu_.extent()}};
  for (std::size_t i = 0; i < extremes_.size(); ++i) {
    const Extent extent = extremes_[i].extent();
    const SeriesField& field = machine_series_fields()[i];
    if (!field.is_optional || std::isfinite(extent.mean)) facts.summary.emplace_back(field.series, extent);
  }
}

MachineSample ClusterSum::sum() const {
  MachineSample all{.host = "", .time = 0, .seconds = 1, .cores = 0};
  for (const auto& [host, sample] : last_) all.time = std::max(all.time, sample.time);
  for (const auto& [host, sample] : last_) {
    if (sample.time < all.time - kForgottenAfter) continue;
    all.cores += sample.cores;
    for (std::size_t i = 0; i < all.values.size(); ++i)
      combine(all.values[i], sample.values[i], machine_series_fields()[i].combine, sample.cores);
  }
  for (std::size_t i = 0; i < all.values.size(); ++i)
    if (machine_series_fields()[i].combine == observe::Combine::mean) all.values[i] /= all.cores;
  return all;
}

void MachinesPart::take(const observe::Record& record) {
  const MachineSample sample = machine_sample(record);
  if (!machines_.contains(sample.host)) order_.push_back(sample.host);
  Machine& machine = machines_[sample.host];
  if (const double cores = number(record, "cores"); std::isfinite(cores)) machine.cores = cores;
  if (const double bytes = number(record, "memory_total_bytes"); std::isfinite(bytes)) machine.memory_total = bytes;
  if (truth(record, "baseline")) return take_baseline(machine, sample);
  machine.use.show(sample);
  shown_.add(sample, [&](const MachineSample& all) { cluster_.show(all); });
  if (pending_.size() < kMaxPending) pending_.push_back(sample);
}

void MachinesPart::take_baseline(Machine& machine, const MachineSample& sample) {
  machine.has_baseline = true;
  machine.baseline[0].add(busy(sample), sample.seconds);
  machine.baseline[1].add(sample.value("memory"), sample.seconds);
  machine.baseline[2].add(sample.value("network_in"), sample.seconds);
  machine.baseline[3].add(sample.value("network_out"), sample.seconds);
}

void MachinesPart::settle(const RunWindow& window) {
  std::vector<MachineSample> later;
  for (MachineSample& sample : pending_) {
    const RunWindow::Place place = window.place(sample.time - sample.seconds / 2);
    if (place == RunWindow::Place::inside) {
      machines_[sample.host].use.count(sample);
      counted_.add(sample, [&](const MachineSample& all) { cluster_.count(all); });
    } else if (place == RunWindow::Place::later) {
      later.push_back(std::move(sample));
    }
  }
  pending_ = std::move(later);
}

void MachinesPart::write_to(RunDocument& document) const {
  document.machines.clear();
  std::vector<Baseline> baselines;
  double cores = kUnknown, memory_total = kUnknown;
  for (const std::string& host : order_) {
    const Machine& machine = machines_.at(host);
    MachineFacts facts{.host = host, .cores = machine.cores, .memory_total_bytes = machine.memory_total};
    machine.use.write_to(facts);
    const auto mean = [&](std::size_t i) { return machine.baseline[i].extent().mean; };
    if (machine.has_baseline) facts.baseline = Baseline{.cpu = mean(0), .memory = mean(1), .network_in = mean(2), .network_out = mean(3)};
    if (facts.baseline) baselines.push_back(*facts.baseline);
    if (facts.baseline) baselines.back().cpu *= machine.cores;
    add_known(cores, machine.cores);
    add_known(memory_total, machine.memory_total);
    document.machines.push_back(std::move(facts));
  }
  MachineUse cluster = cluster_;  // with the second that is not over yet
  if (!shown_.is_empty()) cluster.show(shown_.sum());
  if (!counted_.is_empty()) cluster.count(counted_.sum());
  document.cluster = {.host = "", .cores = cores, .memory_total_bytes = memory_total};
  cluster.write_to(document.cluster);
  if (baselines.empty() || baselines.size() < order_.size()) return;
  document.cluster.baseline = Baseline{.cpu = sum_of(baselines, &Baseline::cpu) / cores,
                                       .memory = sum_of(baselines, &Baseline::memory),
                                       .network_in = sum_of(baselines, &Baseline::network_in),
                                       .network_out = sum_of(baselines, &Baseline::network_out)};
}

}  // namespace trireme::report
