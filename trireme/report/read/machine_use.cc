// SPDX-License-Identifier: Apache-2.0
// Records `machine` of the telemetry to series and summaries.
#include "trireme/report/read/machine_use.h"

#include <algorithm>
#include <cmath>

#include "trireme/report/read/fields.h"

namespace trireme::report {
namespace {

constexpr double kForgottenAfter = 3.5;  // seconds without a word from a machine; then it is not part of the sum any more
constexpr std::size_t kMostPending = 200'000;

enum Column { user, system, wait, memory, network_in, network_out, loopback, disk_read, disk_write, load, temperature, frequency, power };

std::vector<std::string> names() {
  std::vector<std::string> list{"time"};
  list.insert(list.end(), kMachineColumns.begin(), kMachineColumns.end());
  return list;
}

double busy(const MachineSample& sample) { return sample.values[user] + sample.values[system]; }

// What is unknown of one machine does not make the sum unknown.
void add_known(double& sum, double value) {
  if (!std::isfinite(value)) return;
  sum = std::isfinite(sum) ? sum + value : value;
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
  const auto rate = [&](std::string_view field) { return number(record, field) / sample.seconds; };
  sample.values = {number(record, "cpu_user"), number(record, "cpu_system"), number(record, "cpu_wait"),    number(record, "memory_bytes"),
                   rate("network_in_bytes"),   rate("network_out_bytes"),    rate("loopback_bytes"),        rate("disk_read_bytes"),
                   rate("disk_write_bytes"),   number(record, "load"),       number(record, "temperature"), number(record, "frequency_mhz"),
                   rate("energy_joules")};
  return sample;
}

MachineUse::MachineUse() : series_(names()) {}

void MachineUse::show(const MachineSample& sample) {
  std::array<double, kMachineColumns.size() + 1> row{sample.time};
  std::ranges::copy(sample.values, row.begin() + 1);
  series_.add(row);
}

void MachineUse::count(const MachineSample& sample) {
  for (std::size_t i = 0; i < extremes_.size(); ++i) extremes_[i].add(sample.values[i], sample.seconds);
  cpu_.add(busy(sample), sample.seconds);
}

void MachineUse::write_to(MachineFacts& facts) const {
  facts.series = series_.series(kOptionalColumns);
  facts.summary = {{"cpu", cpu_.extent()}};
  for (std::size_t i = 0; i < extremes_.size(); ++i) {
    const Extent extent = extremes_[i].extent();
    const bool is_optional = std::ranges::find(kOptionalColumns, kMachineColumns[i]) != kOptionalColumns.end();
    if (!is_optional || std::isfinite(extent.mean)) facts.summary.emplace_back(kMachineColumns[i], extent);
  }
}

MachineSample ClusterSum::sum() const {
  MachineSample all{.host = "", .time = 0, .seconds = 1, .cores = 0};
  all.values.fill(kUnknown);
  for (const auto& [host, sample] : last_) all.time = std::max(all.time, sample.time);
  for (const auto& [host, sample] : last_) {
    if (sample.time < all.time - kForgottenAfter) continue;
    all.cores += sample.cores;
    for (std::size_t i = 0; i < all.values.size(); ++i) {
      const bool is_share = i <= wait || i == frequency;
      if (i == temperature && std::isfinite(all.values[i]))
        all.values[i] = std::fmax(all.values[i], sample.values[i]);
      else
        add_known(all.values[i], is_share ? sample.values[i] * sample.cores : sample.values[i]);
    }
  }
  for (const std::size_t i : {std::size_t{user}, std::size_t{system}, std::size_t{wait}, std::size_t{frequency}})
    all.values[i] /= all.cores;
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
  if (pending_.size() < kMostPending) pending_.push_back(sample);
}

void MachinesPart::take_baseline(Machine& machine, const MachineSample& sample) {
  machine.has_baseline = true;
  machine.baseline[0].add(busy(sample), sample.seconds);
  machine.baseline[1].add(sample.values[memory], sample.seconds);
  machine.baseline[2].add(sample.values[network_in], sample.seconds);
  machine.baseline[3].add(sample.values[network_out], sample.seconds);
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
