// SPDX-License-Identifier: Apache-2.0
// From a document to the numbers of its mean step.
#include "trireme/report/judge/step_facts.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trireme::report {
namespace {

double or_zero(double value) { return std::isfinite(value) ? value : 0; }

double compute_of(const Anatomy& anatomy) {
  const double whole = anatomy.seconds("compute");  // without telemetry
  return std::isfinite(whole) ? whole : anatomy.seconds("forward") + anatomy.seconds("backward");
}

std::vector<const NodeFacts*> workers_of(const RunDocument& document) {
  std::vector<const NodeFacts*> workers;
  for (const NodeFacts& node : document.nodes)
    if (node.computes() && node.anatomy.steps > 0) workers.push_back(&node);
  return workers;
}

double count_workers(const RunDocument& document, const StrategyFacts& strategy, std::size_t known) {
  if (strategy.uses_servers() && std::isfinite(document.server_workers)) return document.server_workers;
  const double recorded = document.stretches.empty() ? kUnknown : document.stretches.back().workers;
  if (strategy.uses_servers() && known > 0) return static_cast<double>(known);
  if (std::isfinite(recorded) && recorded >= 1) return recorded;
  return known > 0 ? static_cast<double>(known) : std::max(1.0, or_zero(document.run.workers));
}

double count_machines(const RunDocument& document) {
  std::set<std::string> hosts;
  for (const NodeFacts& node : document.nodes) hosts.insert(node.host);
  return hosts.empty() ? std::max<double>(1, static_cast<double>(document.machines.size())) : static_cast<double>(hosts.size());
}

void find_slowest(StepFacts& facts, const std::vector<const NodeFacts*>& workers) {
  std::vector<std::pair<double, const NodeFacts*>> times;
  for (const NodeFacts* node : workers)
    if (node->samples > 0) times.emplace_back(compute_of(node->anatomy) * node->anatomy.steps / node->samples, node);
  if (times.size() < 2) return;
  std::ranges::sort(times, {}, [](const auto& row) { return row.first; });
  // Of an even number the faster of the middle two: of two workers, the slower one can be slow.
  facts.slowness = times.back().first / times[(times.size() - 1) / 2].first;
  facts.slowest = "node " + times.back().second->node + " on " + times.back().second->host;
}

void add_worker_sums(StepFacts& facts, const std::vector<const NodeFacts*>& workers) {
  double sent = 0, steps = 0;
  facts.exposed_least = facts.exposed;
  for (const NodeFacts* node : workers) {
    sent += or_zero(node->bytes_sent);
    steps += node->steps;
    facts.exposed_least = std::fmin(facts.exposed_least, node->anatomy.seconds("exposed"));
  }
  if (steps > 0 && sent > 0) facts.bytes_per_step = sent / steps;
}

}  // namespace

StepFacts step_facts(const RunDocument& document) {
  const Anatomy& anatomy = document.anatomy;
  const std::vector<const NodeFacts*> workers = workers_of(document);
  StepFacts facts{.strategy = document.facts_of(document.run.strategy), .steps = anatomy.steps, .step = anatomy.step_seconds};
  for (const Stretch& stretch : document.stretches) facts.is_mixed = facts.is_mixed || stretch.strategy != document.run.strategy;
  facts.workers = count_workers(document, facts.strategy, workers.size());
  facts.servers = static_cast<double>(document.servers.size());
  facts.input_wait = or_zero(anatomy.seconds("input_wait"));
  facts.compute = compute_of(anatomy);
  facts.exposed = or_zero(anatomy.seconds("exposed"));
  facts.optimizer = or_zero(anatomy.seconds("optimizer"));
  facts.idle = or_zero(anatomy.seconds("idle"));
  facts.exchange = anatomy.seconds("exchange");
  facts.read = or_zero(anatomy.seconds("read"));
  facts.decode = or_zero(anatomy.seconds("decode"));
  facts.parameters = document.run.parameters;
  facts.buckets = facts.strategy.buckets;
  facts.has_overlap = facts.strategy.has_overlap;
  facts.machines = count_machines(document);
  facts.cluster_cpu = mean_of(document.cluster.summary, "cpu");
  facts.cores = document.cluster.cores;
  double own = 0;
  for (const NodeFacts& node : document.nodes) own += node.cores_used;
  if (!document.nodes.empty()) facts.foreign_cores = facts.cluster_cpu * facts.cores - own;
  facts.server_wait_share = document.server_wait_share;
  facts.servers_needed = document.servers_needed;
  for (const ServerFacts& server : document.servers) facts.server_busy_share = std::fmax(facts.server_busy_share, server.busy_share);
  facts.startup_seconds = document.run.first_step - document.run.started;
  facts.elapsed_seconds = document.result.seconds;
  add_worker_sums(facts, workers);
  find_slowest(facts, workers);
  return facts;
}

}  // namespace trireme::report
