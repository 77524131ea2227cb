// SPDX-License-Identifier: Apache-2.0
// Nodes that die at random moments, one after another.
#pragma once

#include <chrono>
#include <functional>

#include "tests/faults/scene.h"

namespace trireme::tests {

struct RandomKills {
  int kills = 20;
  std::chrono::milliseconds longest_pause{200};  // before each
  // Who dies; none: any node.
  std::function<int(const Training& training)> victim = {};
};

// By the scene's seed. Each time all nodes are together again before the next. The worst figures of all kills.
Outcome kill_at_random(Scene& scene, TrainingSetup setup, const RandomKills& plan, const Limits& limits);

}  // namespace trireme::tests
