// SPDX-License-Identifier: Apache-2.0
// A thread that looks at a file's time.
#include "trireme/run/launch/new_machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/shipping.h"

namespace trireme::run {
namespace {

constexpr auto kPause = std::chrono::seconds(2);

std::filesystem::file_time_type time_of(const std::filesystem::path& file) {
  std::error_code gone;
  return std::filesystem::last_write_time(file, gone);
}

}  // namespace

NewMachines::NewMachines(Options options)
    : options_(std::move(options)), seen_(time_of(options_.file)), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

std::vector<cluster::NodePlan> NewMachines::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ready_, {});
}

void NewMachines::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, kPause, [] { return false; });
    const auto now = time_of(options_.file);
    if (stop.stop_requested() || std::exchange(seen_, now) == now) continue;
    lock.unlock();
    try {
      look();
    } catch (const Error& error) {  // on a thread of its own: a wrong file must not end the training that goes on
      options_.say(fmt::format("{} has changed, but: {}", options_.file.string(), error.what()));
    }
    lock.lock();
  }
}

void NewMachines::look() {
  std::vector<cluster::Machine> machines = options_.read();
  std::erase_if(machines, [&](const cluster::Machine& machine) {
    return std::ranges::any_of(options_.known, [&](const cluster::NodePlan& plan) { return plan.machine.name == machine.name; });
  });
  if (!machines.empty()) welcome(machines);
}

void NewMachines::welcome(const std::vector<cluster::Machine>& machines) {
  const auto reports = cluster::ship(machines, options_.launch, [&](std::string_view event) { options_.say(std::string(event)); });
  cluster::require_ready(reports);
  std::vector<cluster::NodePlan> plans = cluster::plan_nodes(machines, options_.threads);
  for (cluster::NodePlan& plan : plans) {
    plan.name = fmt::format("{}", options_.known.size());
    plan.has_shipped_libraries = std::ranges::find(reports, plan.machine.name, &cluster::ShippingReport::machine)->has_shipped_libraries;
    options_.known.push_back(plan);
    options_.say(fmt::format("{} is new: node {} is started there", plan.machine.name, plan.name));
  }
  const std::lock_guard lock(mutex_);
  ready_.insert(ready_.end(), plans.begin(), plans.end());
}

}  // namespace trireme::run
