// SPDX-License-Identifier: Apache-2.0
// The model of a step, calibrated by the measured one.
#include "trireme/report/judge/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "trireme/report/document/words.h"

namespace trireme::report {
namespace {

constexpr double kLatency = 50e-6;  // of a round between two machines of a lab

struct Change {
  std::string name;
  double workers;
  double bandwidth;
};

std::string assumptions(const StepFacts& f, const StepModel& model, const Change& change) {
  std::string text = "assumed: ";
  if (change.workers != f.workers)
    text +=
        "the same batch divided evenly, computing in proportion to the share, new nodes like the mean of these and with cores of their own";
  if (change.workers != f.workers && change.workers > 1) text += "; ";
  if (change.workers > 1)
    text += fmt::format("{} latency a round, {}", duration(model.latency()),
                        f.has_overlap ? "backward hides as much of the exchange as it did" : "nothing is hidden behind backward");
  return text;
}

Prediction predicted(const StepFacts& f, const StepModel& model, const Change& change) {
  const double seconds = model.step_seconds(change.workers, change.bandwidth);
  const double difference = seconds / f.step - 1;
  return {.change = change.name,
          .step_seconds = seconds,
          .difference = difference,
          .sentence = fmt::format("{}: a step of {} instead of {} ({}); {}.", change.name, duration(seconds), duration(f.step),
                                  signed_percent(difference), assumptions(f, model, change))};
}

Prediction unknown(const std::string& change, const std::string& why) {
  return {.change = change, .sentence = fmt::format("{}: can't be predicted; {}.", change, why)};
}

// What a run of one process can say: how fast a network must be for a second one to pay.
Prediction break_even(const StepFacts& f) {
  const double sent = f.parameters * f.strategy.bytes_per_value;  // a ring of two sends the model once each way
  const double gain = f.compute / 2;
  return {.change = "one more node",
          .sentence = fmt::format("one more node: can't be predicted, since nothing was exchanged; it could save at most {} of computing "
                                  "in a step and must send {} for it, "
                                  "so it pays if that travels faster than {} (less, if backward hides a part).",
                                  duration(gain), bytes(sent), rate(sent / gain))};
}

std::vector<Prediction> for_one_machine(const StepFacts& f) {
  const char* why = "all nodes are on one machine, so there is no network between them";
  const char* cores = "all nodes share one machine, so one more has no cores of its own";
  std::vector<Prediction> list{unknown("twice the bandwidth", why), unknown("ten times the bandwidth", why),
                               unknown("one more node", cores), unknown("twice the nodes", cores)};
  const double alone = f.compute + f.input_wait + f.optimizer;
  if (f.strategy.is_joint)
    list.push_back(
        {.change = "one node alone",
         .step_seconds = alone,
         .difference = alone / f.step - 1,
         .sentence = fmt::format("one node alone: a step of about {} instead of {} ({}); assumed: one process uses all cores of the "
                                 "machine as well as {} nodes do together, and exchanges nothing.",
                                 duration(alone), duration(f.step), signed_percent(alone / f.step - 1), f.workers)});
  return list;
}

}  // namespace

StepModel::StepModel(StepFacts facts) : facts_(std::move(facts)) {
  waiting_ = std::max(0.0, facts_.exposed - facts_.exposed_least);
  const double exposed = facts_.exposed_least;
  exchange_ = std::max(exposed, (std::isfinite(facts_.exchange) ? facts_.exchange : facts_.exposed) - waiting_);
  hidden_ = exchange_ - exposed;
  // A measured exchange that is shorter than its rounds had less latency: then half of it, at most.
  const double now = rounds(facts_.workers);
  latency_ = now > 0 ? std::min(kLatency, exchange_ / (2 * now)) : kLatency;
}

double StepModel::rounds(double workers) const { return facts_.strategy.uses_servers() ? 2 : 2 * (workers - 1) * facts_.buckets; }

double StepModel::volume(double workers) const {
  if (facts_.strategy.uses_servers()) return 2 * std::max(1.0, workers / std::max(1.0, facts_.servers));
  return 2 * (workers - 1) / workers;
}

double StepModel::exchange_seconds(double workers, double bandwidth_factor) const {
  if (workers <= 1 && !facts_.strategy.uses_servers()) return 0;
  const double transfer = std::max(0.0, exchange_ - latency_ * rounds(facts_.workers));
  return latency_ * rounds(workers) + transfer * volume(workers) / volume(facts_.workers) / bandwidth_factor;
}

// As measured for the measured exchange.
double StepModel::exposed_seconds(double exchange, double workers) const {
  if (!(exchange_ > 0)) return exchange;
  const double never_hidden = std::min(1 / facts_.buckets, (exchange_ - hidden_) / exchange_);
  return std::max(never_hidden * exchange, exchange - hidden_ * facts_.workers / workers);
}

double StepModel::step_seconds(double workers, double bandwidth_factor) const {
  const double share = facts_.workers / workers;
  const double exchange = exchange_seconds(workers, bandwidth_factor);
  const double waiting = workers > 1 ? waiting_ * share : 0;
  return (facts_.compute + facts_.input_wait) * share + facts_.optimizer + facts_.idle + waiting + exposed_seconds(exchange, workers);
}

std::vector<Prediction> predictions_of(const StepFacts& f) {
  if (!(f.steps >= 10) || !(f.step > 0) || !std::isfinite(f.compute)) return {};
  if (f.is_mixed) return {unknown("another network or other nodes", "the steps of several strategies are mixed")};
  if (f.workers <= 1 && !f.strategy.uses_servers()) return {break_even(f)};
  if (f.is_on_one_machine()) return for_one_machine(f);
  const StepModel model(f);
  const double n = f.workers;
  std::vector<Prediction> list;
  for (const Change& change : {Change{"twice the bandwidth", n, 2}, Change{"ten times the bandwidth", n, 10},
                               Change{"one more node", n + 1, 1}, Change{"twice the nodes", 2 * n, 1}})
    list.push_back(predicted(f, model, change));
  if (f.strategy.exchange == StrategyFacts::Exchange::all_reduce) list.push_back(predicted(f, model, {"one node alone", 1, 1}));
  return list;
}

}  // namespace trireme::report
