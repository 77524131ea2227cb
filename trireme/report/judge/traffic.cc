// SPDX-License-Identifier: Apache-2.0
// The analytic traffic of each way to exchange.
#include "trireme/report/judge/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trireme::report {
namespace {

struct Model {
  double bytes = kUnknown;
  std::string words;
};

// A server beside a worker is reached without sending: of s servers one, for each worker that has one.
double remote_share(const RunDocument& document, const StrategyFacts& strategy, double workers) {
  const auto servers = static_cast<double>(document.servers.size());
  double both = 0;
  for (const NodeFacts& node : document.nodes) both += node.computes() && node.serves() ? 1 : 0;
  if (document.nodes.empty() && strategy.servers_compute) both = servers;
  return servers > 0 && workers > 0 ? 1 - std::min(1.0, both / workers) / servers : kUnknown;
}

Model all_reduce_model(const RunDocument& document, const StrategyFacts& strategy, double n) {
  const double slots = strategy.sends_slots ? document.run.optimizer_slots : 0;
  const double values = document.run.parameters * (1 + slots);
  Model model{.bytes = 2 * (n - 1) * values * strategy.bytes_per_value / strategy.steps_between};
  if (strategy.sends_slots)
    model.words = fmt::format("parameters and {} slots are averaged every {} steps", slots, strategy.steps_between);
  else
    model.words = fmt::format("{} nodes send 2 (n - 1) / n of {:.0f} bytes for each of {} parameters", n, strategy.bytes_per_value,
                              document.run.parameters);
  if (!strategy.sends_slots && strategy.steps_between > 1) model.words += fmt::format(" every {} steps", strategy.steps_between);
  return model;
}

Model server_model(const RunDocument& document, const StrategyFacts& strategy, double n) {
  const double workers = std::isfinite(document.server_workers) ? document.server_workers : n;
  const double remote = remote_share(document, strategy, workers);
  const double pushes = strategy.is_joint ? workers : 1;
  return {.bytes = 2 * document.run.parameters * strategy.bytes_per_value * remote * pushes,
          .words = fmt::format("a push and a pull of {:.0f} bytes for each of {} parameters, {:.3g} of it between nodes, {}",
                               strategy.bytes_per_value, document.run.parameters, remote,
                               strategy.is_joint ? "by every worker" : "by the one worker whose step it is")};
}

Model model_of(const RunDocument& document, const Stretch& stretch) {
  const StrategyFacts strategy = document.facts_of(stretch.strategy);
  switch (strategy.exchange) {
    case StrategyFacts::Exchange::none:
      return {.bytes = 0, .words = "nothing is sent"};
    case StrategyFacts::Exchange::all_reduce:
      return all_reduce_model(document, strategy, stretch.workers);
    case StrategyFacts::Exchange::servers:
      return server_model(document, strategy, stretch.workers);
    case StrategyFacts::Exchange::unknown:
      break;
  }
  return {};
}

}  // namespace

std::optional<Traffic> traffic_of(const RunDocument& document) {
  double sent = 0, steps = 0, expected = 0;
  for (const NodeFacts& node : document.nodes) sent += std::isfinite(node.bytes_sent) ? node.bytes_sent : 0;
  std::string words;
  for (const Stretch& stretch : document.stretches) {
    const Model model = model_of(document, stretch);
    steps += stretch.steps;
    expected += model.bytes * stretch.steps;
    const std::string line = stretch.strategy + ": " + model.words;
    if (words.find(line) == std::string::npos) words += (words.empty() ? "" : "; ") + line;
  }
  if (!(sent > 0) || !(steps > 0)) return std::nullopt;
  return Traffic{.measured_bytes_per_step = sent / steps,
                 .model_bytes_per_step = expected / steps,
                 .ratio = expected > 0 ? sent / expected : kUnknown,
                 .model = words};
}

}  // namespace trireme::report
