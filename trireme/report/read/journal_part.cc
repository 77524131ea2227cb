// SPDX-License-Identifier: Apache-2.0
// Records of a journal, one after another, into what is known of the run.
#include "trireme/report/read/journal_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trireme/observe/record_fields.h"
#include "trireme/observe/records/step_record.h"
#include "trireme/report/read/fields.h"
#include "trireme/report/read/series_fields.h"

namespace trireme::report {
namespace {

constexpr std::size_t kRecent = 50;  // steps over which the speed is measured
constexpr std::size_t kMaxEvents = 1000;
constexpr std::size_t kMaxStale = 32;

// The key first; then what rates are made of, and what the description gives a curve.
std::vector<std::string> step_columns() {
  std::vector<std::string> names{"step", "time", "samples", "seconds"};
  for (const SeriesField& field : step_series_fields()) names.emplace_back(field.series);
  return names;
}

double held_out(const observe::Record& record, const std::string& what) {
  const double validation = number(record, "validation_" + what);
  return record.find("validation_" + what) == nullptr ? number(record, "test_" + what) : validation;
}

}  // namespace

JournalPart::JournalPart() : steps_(step_columns()), parts_(part_fields<observe::StepRecord>()) {}

void JournalPart::take(const observe::Record& record) {
  const std::string& type = record.type;
  if (type == "resume" && std::isfinite(last_time_)) interrupted_seconds_ += std::max(0.0, record.time - last_time_);
  if (type == "run") take_run(record);
  if (type == "strategy") take_strategy(record);
  if (type == "generation") take_generation(record);
  if (type == "step") take_step(record);
  if (type == "epoch") take_epoch(record);
  if (type == "server") take_server(record);
  if (type == "switch") take_switch(record);
  if (type == "end") take_end(record);
  take_other(record);
  if (type != "end") ending_.clear();  // it went on after that
  last_time_ = record.time;
}

void JournalPart::take_run(const observe::Record& record) {
  run_.trireme = word(record, "trireme");
  run_.job = word(record, "job");
  run_.model = word(record, "model");
  run_.data = word(record, "data");
  run_.host = word(record, "host");
  run_.parameters = number(record, "parameters");
  run_.optimizer_slots = number(record, "optimizer_slots");
  run_.batch_size = number(record, "batch_size");
  run_.epochs = number(record, "epochs");
  run_.samples = number(record, "samples");
  run_.seed = number(record, "seed");
  run_.threads = number(record, "threads");
  run_.workers = number(record, "workers");
  run_.started = record.time;
  workers_now_ = number_or(record, "workers", 1);
  validation_samples_ = number(record, "validation_samples");
  add_event({.time = record.time, .kind = "begun", .title = "training begun", .detail = run_.model + " on " + run_.data, .step = 0});
}

// A resumed run records them again.
void JournalPart::take_strategy(const observe::Record& record) {
  StrategyFacts facts{.strategy = word(record, "strategy"),
                      .exchange = exchange_of(word(record, "exchange")),
                      .is_joint = truth(record, "is_joint"),
                      .bytes_per_value = number_or(record, "bytes_per_value", 4),
                      .steps_between = number_or(record, "steps_between", 1),
                      .buckets = number_or(record, "buckets", 1),
                      .has_overlap = truth(record, "has_overlap"),
                      .sends_slots = truth(record, "sends_slots"),
                      .servers_compute = truth(record, "servers_compute")};
  std::erase_if(strategies_, [&](const StrategyFacts& old) { return old.strategy == facts.strategy; });
  strategies_.push_back(std::move(facts));
}

void JournalPart::take_generation(const observe::Record& record) {
  const double nodes = number_or(record, "workers", 0);
  const double before = nodes_;
  if (before > 0 && nodes > before)
    add_event({.time = record.time,
               .kind = "joined",
               .title = fmt::format("{} more", nodes - before == 1 ? "one node" : fmt::format("{} nodes", nodes - before)),
               .detail = fmt::format("generation {}: {}", number_or(record, "generation", 0), word(record, "hosts")),
               .step = step_});
  nodes_ = nodes;
  if (record.find("plan") != nullptr) run_.plan = word(record, "plan");
  if (stretches_.empty() || (nodes > 0 && nodes != before)) {
    const std::string strategy = stretches_.empty() ? first_or_local() : stretches_.back().strategy;
    workers_now_ = nodes;
    stretches_.push_back({.strategy = strategy, .workers = nodes, .first_step = step_ + 1});
  }
  recent_.clear();
}

void JournalPart::begin_session(double time) {
  window_.sessions.push_back({time, time});
  is_new_session_ = false;
  recent_.clear();
}

void JournalPart::take_step(const observe::Record& record) {
  const double step = number_or(record, "step", step_ + 1);
  const bool is_pushed = record.find("worker") != nullptr;  // these may come a little out of order
  if (step <= step_ && (!is_pushed || step == 1)) forget_after(step - 1);
  const double seconds = number_or(record, "seconds", 0);
  if (is_new_session_) begin_session(record.time - seconds);
  window_.sessions.back().end = std::max(window_.sessions.back().end, record.time);
  step_ = std::max(step, step_);
  epoch_ = number_or(record, "epoch", epoch_);
  samples_seen_ = number_or(record, "samples_seen", samples_seen_);
  recent_.push_back({record.time, samples_seen_});
  if (recent_.size() > kRecent) recent_.pop_front();
  const double rate_seconds = is_pushed ? seconds / std::max(1.0, workers_now_) : seconds;  // all workers push at the same time
  std::vector<double> row{step, record.time, number(record, "samples"), rate_seconds};
  for (const SeriesField& field : step_series_fields()) row.push_back(number(record, field.name));
  steps_.add(row);
  count_step(step);
  take_rate(record);
  take_skips(record, step);
  take_anatomy(record, seconds);
  if (const double age = number(record, "staleness"); std::isfinite(age)) {
    staleness_.add(age);
    most_stale_ = std::isfinite(most_stale_) ? std::max(most_stale_, age) : age;
    const auto bin = static_cast<std::size_t>(std::clamp(age, 0.0, static_cast<double>(kMaxStale)));
    if (step_histogram_.size() <= bin) step_histogram_.resize(bin + 1);
    ++step_histogram_[bin];
  }
}

void JournalPart::take_rate(const observe::Record& record) {
  const double rate = number(record, "learning_rate"), samples = number(record, "samples");
  if (!std::isfinite(rate) || !std::isfinite(samples)) return;
  highest_rate_ = std::fmax(highest_rate_, rate);
  rates_ += rate;
  rated_samples_ += samples;
}

void JournalPart::count_step(double step) {
  if (stretches_.empty()) stretches_.push_back({.strategy = first_or_local(), .workers = workers_now_, .first_step = step});
  ++stretches_.back().steps;
}

// The first step waits for what happens once: first batches, memory, connections.
void JournalPart::take_anatomy(const observe::Record& record, double seconds) {
  if (!has_first_step_) {
    has_first_step_ = true;
    return;
  }
  const auto value = [&](std::string_view field) { return number_or(record, field, 0); };
  double idle = seconds;
  for (const std::string_view field : part_fields<observe::StepRecord>().of_step) idle -= value(field);
  parts_.add(value);
  idle_seconds_.add(std::max(0.0, idle));
}

void JournalPart::take_epoch(const observe::Record& record) {
  const Epoch now{.epoch = number_or(record, "epoch", 0),
                  .step = number_or(record, "step", step_),
                  .time = record.time,
                  .training_loss = number(record, "loss"),
                  .training_accuracy = number(record, "accuracy"),
                  .loss = held_out(record, "loss"),
                  .accuracy = held_out(record, "accuracy"),
                  .seconds = number(record, "seconds"),
                  .samples_per_second = number(record, "samples_per_second"),
                  .has_validation = record.find("validation_loss") != nullptr};
  std::erase_if(epochs_, [&](const Epoch& old) { return old.epoch >= now.epoch; });
  epochs_.push_back(now);
  penalty_ = number(record, "penalty");
}

void JournalPart::take_server(const observe::Record& record) {
  const auto server = observe::record_of<observe::ServerRecord>(record);
  const auto [known, is_new] = servers_.try_emplace(server.server, server);
  if (!is_new) observe::combine(known->second, server);
  if (record.find("wait_share") == nullptr) return;  // the first server speaks for all: a push goes to each of them
  server_wait_share_ = server.wait_share;
  servers_needed_ = server.servers_needed;
  server_workers_ = server.workers;
}

void JournalPart::take_switch(const observe::Record& record) {
  const std::string to = word(record, "to");
  workers_now_ = number_or(record, "workers", workers_now_);
  stretches_.push_back({.strategy = to, .workers = workers_now_, .first_step = number_or(record, "step", step_) + 1});
  const double seconds = number_or(record, "seconds", 0);
  switch_seconds_ = (std::isfinite(switch_seconds_) ? switch_seconds_ : 0) + seconds;
  add_event({.time = record.time,
             .kind = "switch",
             .title = "now " + to,
             .detail = fmt::format("from {} ({}), in {:.2f} s", word(record, "from"), word(record, "why"), seconds),
             .step = number(record, "step")});
}

void JournalPart::take_end(const observe::Record& record) {
  ending_ = word(record, "reason");
  if (ending_.empty()) ending_ = "completed";
  training_seconds_ = number(record, "seconds");
  is_new_session_ = true;
  add_event({.time = record.time, .kind = "end", .title = ending_, .detail = "", .step = number(record, "steps")});
}

void JournalPart::forget_after(double step) {
  steps_.cut_after(step);
  skips_.erase(skips_.upper_bound(step), skips_.end());
  std::erase_if(epochs_, [&](const Epoch& epoch) { return epoch.step > step; });
  while (stretches_.size() > 1 && stretches_.back().first_step > step + 1) {
    const double done = stretches_.back().steps;
    stretches_.pop_back();
    stretches_.back().steps += done;
  }
  step_ = step;
}

void JournalPart::add_event(Event event) {
  events_.push_back(std::move(event));
  if (events_.size() <= kMaxEvents) return;
  auto victim = std::ranges::find_if(events_, [](const Event& e) { return e.kind == "checkpoint" || e.kind == "verdict"; });
  if (victim == events_.end()) victim = events_.begin() + 1;
  events_.erase(victim);
}

}  // namespace trireme::report
