// SPDX-License-Identifier: Apache-2.0
// The analytic traffic of each strategy.
#include "trireme/report/judge/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trireme/report/judge/strategy_shape.h"

namespace trireme::report {
namespace {

using Kind = StrategyShape::Kind;

struct Model {
  double bytes = kUnknown;
  std::string words;
};

// A server beside a worker is reached without sending: of s servers one, for each worker that has one.
double remote_share(const RunDocument& document, double workers) {
  const auto servers = static_cast<double>(document.servers.size());
  double both = 0;
  for (const NodeFacts& node : document.nodes) both += node.computes() && node.serves() ? 1 : 0;
  if (document.nodes.empty() && document.run.strategy.find("placement=dedicated") == std::string::npos) both = servers;
  return servers > 0 && workers > 0 ? 1 - std::min(1.0, both / workers) / servers : kUnknown;
}

Model model_of(const RunDocument& document, const Stretch& stretch) {
  const StrategyShape shape = shape_of(stretch.strategy);
  const double model = document.run.parameters * shape.bytes_per_value;
  const double n = stretch.workers;
  switch (shape.kind) {
    case Kind::local:
      return {0, "nothing is sent"};
    case Kind::allreduce:
      return {2 * (n - 1) * model, fmt::format("{} nodes send 2 (n - 1) / n of {:.0f} bytes for each of {} parameters", n,
                                               shape.bytes_per_value, document.run.parameters)};
    case Kind::local_sgd: {
      const double slots = document.run.optimizer_slots;
      return {2 * (n - 1) * document.run.parameters * 4 * (1 + slots) / shape.steps_between,
              fmt::format("parameters and {} slots are averaged every {} steps", slots, shape.steps_between)};
    }
    case Kind::ps: {
      const double workers = std::isfinite(document.server_workers) ? document.server_workers : n;
      const double remote = remote_share(document, workers);
      const double pushes = shape.is_in_step ? workers : 1;
      return {
          2 * model * remote * pushes,
          fmt::format("a push and a pull of {:.0f} bytes for each of {} parameters, {:.3g} of it between nodes, {}", shape.bytes_per_value,
                      document.run.parameters, remote, shape.is_in_step ? "by every worker" : "by the one worker whose step it is")};
    }
    case Kind::other:
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
