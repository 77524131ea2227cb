// SPDX-License-Identifier: Apache-2.0
// The nodes that a job starts: the conductor adds new ones while the launch's threads look up where a line came from.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::run {

// All calls may come from any thread.
class PlanTable {
 public:
  explicit PlanTable(std::vector<cluster::NodePlan> plans) : plans_(std::move(plans)) {}

  void add(cluster::NodePlan plan) {
    const std::lock_guard lock(mutex_);
    plans_.push_back(std::move(plan));
  }
  // A copy: the table may grow meanwhile. None if nothing of that name is started here.
  std::optional<cluster::NodePlan> find(std::string_view node) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(plans_, node, &cluster::NodePlan::name);
    return found == plans_.end() ? std::nullopt : std::optional(*found);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<cluster::NodePlan> plans_;
};

}  // namespace trireme::run
