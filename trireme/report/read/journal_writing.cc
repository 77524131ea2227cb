// SPDX-License-Identifier: Apache-2.0
// What the journal said so far, into a run document.
#include <algorithm>
#include <array>
#include <cmath>

#include "trireme/report/read/journal_part.h"
#include "trireme/report/read/series_fields.h"

namespace trireme::report {
namespace {

std::string state_of(const std::string& ending) {
  if (ending == "until" || ending == "quorum_lost") return "interrupted";
  return ending;
}

}  // namespace

void JournalPart::write_to(RunDocument& document) const {
  std::vector<ConfigRow> config = std::move(document.run.config);
  const std::string name = document.run.name, directory = document.run.directory;
  document.run = run_;
  document.run.config = std::move(config);
  document.run.name = name;
  document.run.directory = directory;
  document.run.state = state_of(ending_);
  if (has_ended()) document.run.ended = last_time_;
  if (!window_.sessions.empty()) document.run.first_step = window_.sessions.front().begin;
  document.stretches = stretches_;
  document.strategies = strategies_;
  // A run of an older version: without a plan it is one node alone, which sends nothing.
  if (strategies_.empty() && run_.plan.empty())
    document.strategies = {{.strategy = first_or_local(), .exchange = StrategyFacts::Exchange::none}};
  document.run.strategy = stretches_.empty() ? first_or_local() : stretches_.back().strategy;
  document.steps = step_series();
  document.epochs = epoch_series();
  document.events = events_;
  document.server_wait_share = server_wait_share_;
  document.servers_needed = servers_needed_;
  document.server_workers = server_workers_;
  document.servers.clear();
  for (const auto& [number, server] : servers_)
    document.servers.push_back({.server = static_cast<double>(number),
                                .pushes = static_cast<double>(server.pushes),
                                .dropped = static_cast<double>(server.dropped),
                                .busy_share = server.seconds > 0 ? server.busy_seconds / server.seconds : kUnknown,
                                .held_seconds = server.held_seconds,
                                .bytes_in = static_cast<double>(server.bytes_in),
                                .bytes_out = static_cast<double>(server.bytes_out)});
  write_progress(document);
  write_result(document);
  write_staleness(document);
  write_anatomy(document.anatomy);
}

std::string JournalPart::first_or_local() const {
  if (!run_.plan.empty()) return run_.plan.substr(0, run_.plan.find(';'));
  return strategies_.empty() ? "local" : strategies_.front().strategy;
}

void JournalPart::write_progress(RunDocument& document) const {
  Progress& progress = document.progress;
  progress = {
      .step = step_, .epoch = epoch_, .epochs = run_.epochs, .samples_seen = samples_seen_, .samples_total = run_.samples * run_.epochs};
  for (const auto& [step, steps] : skips_) progress.skipped_steps += steps;
  progress.fraction = std::min(1.0, samples_seen_ / progress.samples_total);
  if (recent_.size() > 1 && recent_.back().time > recent_.front().time)
    progress.samples_per_second = (recent_.back().seen - recent_.front().seen) / (recent_.back().time - recent_.front().time);
  const double left = (progress.samples_total - samples_seen_) / progress.samples_per_second;
  progress.seconds_left = has_ended() ? 0 : std::isfinite(left) ? std::max(0.0, left) : kUnknown;
}

void JournalPart::write_result(RunDocument& document) const {
  Result result{.training_seconds = training_seconds_, .switch_seconds = switch_seconds_, .interrupted_seconds = interrupted_seconds_};
  if (!epochs_.empty()) {
    const Epoch& last = epochs_.back();
    result.training_accuracy = last.training_accuracy;
    result.training_loss = last.training_loss;
    result.accuracy = last.accuracy;
    result.loss = last.loss;
    result.penalty = penalty_;
    if (std::isfinite(last.loss)) result.measured_on = last.has_validation ? "validation" : "test";
    if (last.has_validation) result.measured_samples = validation_samples_;
    if (!window_.sessions.empty()) result.seconds = last.time - window_.sessions.front().begin - interrupted_seconds_;
    result.updates_per_epoch = last.step / std::max(1.0, last.epoch);
    result.highest_rate = highest_rate_;
    if (rated_samples_ > 0) result.rate_per_sample = rates_ / rated_samples_;
    if (!std::isfinite(result.training_seconds)) {
      result.training_seconds = 0;
      for (const Epoch& epoch : epochs_) result.training_seconds += epoch.seconds;
    }
  }
  if (std::isfinite(test_loss_)) {
    result.accuracy = test_accuracy_;
    result.loss = test_loss_;
    result.measured_on = "test";
    result.measured_samples = test_samples_;
  }
  document.result = result;
}

void JournalPart::write_staleness(RunDocument& document) const {
  document.staleness.reset();
  if (staleness_.count() > 0) {
    document.staleness = Staleness{.histogram = step_histogram_, .mean = staleness_.mean(), .max = most_stale_};
    return;
  }
  const auto first = std::ranges::find_if(servers_, [](const auto& server) { return !server.second.staleness.empty(); });
  if (first == servers_.end()) return;  // a push goes to each server: one of them knows all
  const std::vector<double> histogram(first->second.staleness.begin(), first->second.staleness.end());
  double pushes = 0, sum = 0;
  for (std::size_t age = 0; age < histogram.size(); ++age) {
    pushes += histogram[age];
    sum += histogram[age] * static_cast<double>(age);
  }
  if (pushes > 0)
    document.staleness = Staleness{.histogram = histogram, .mean = sum / pushes, .max = static_cast<double>(histogram.size()) - 1};
}

// The first worker's own times: all there is without telemetry. Forward and backward are one number here.
void JournalPart::write_anatomy(Anatomy& anatomy) const {
  anatomy = parts_.anatomy();
  if (anatomy.steps > 0) anatomy.parts.push_back(part_of("idle", idle_seconds_, anatomy.step_seconds));
}

Series JournalPart::step_series() const {
  Series raw = steps_.series();
  Series series;
  for (const std::string name : {"time", "step"}) series.columns.emplace_back(name, raw.at(name));
  for (const SeriesField& field : step_series_fields()) series.columns.emplace_back(field.series, raw.at(field.series));
  std::vector<double> rate;
  for (std::size_t i = 0; i < raw.size(); ++i) rate.push_back(raw.at("samples")[i] / raw.at("seconds")[i]);
  series.columns.emplace_back("samples_per_second", std::move(rate));
  return series;
}

Series JournalPart::epoch_series() const {
  Bins bins(
      {"epoch", "time", "training_loss", "training_accuracy", "validation_loss", "validation_accuracy", "seconds", "samples_per_second"});
  for (const Epoch& e : epochs_)
    bins.add(std::array{e.epoch, e.time, e.training_loss, e.training_accuracy, e.loss, e.accuracy, e.seconds, e.samples_per_second});
  return bins.series();
}

}  // namespace trireme::report
