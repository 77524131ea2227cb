// SPDX-License-Identifier: Apache-2.0
// The optimizers against paths recorded from PyTorch in double precision (record_optimizers.py).
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/optim/optimizer.h"

namespace trireme::optim {
namespace {

Optimizer optimizer_of(const Json& recorded, const ParameterSpace& space) {
  Config table = Config::parse_toml("", "recording");
  table.set("name", recorded.at("name").dump(), "recording");
  for (const auto& [key, value] : recorded.at("options").items()) table.set(key, value.dump(), "recording");
  return Optimizer::from_config(table, space);
}

// As in record_optimizers.py: pulls to zero, with a wave.
std::vector<float> gradient(const std::vector<float>& weights, double step) {
  std::vector<float> gradients;
  for (std::size_t i = 0; i < weights.size(); ++i)
    gradients.push_back(static_cast<float>(0.5 * weights[i] + std::sin(step * (static_cast<double>(i) + 1))));
  return gradients;
}

void follow(const Json& recorded, std::vector<float> weights) {
  ParameterSpace space;
  space.add("w", {static_cast<std::int64_t>(weights.size())});
  const Optimizer optimizer = optimizer_of(recorded, space);
  std::vector<std::vector<float>> slots(optimizer.slots().size(), std::vector<float>(weights.size()));
  std::int64_t step = 0;
  for (const Json& expected : recorded.at("path")) {
    const std::vector<float> gradients = gradient(weights, static_cast<double>(++step));
    UpdateSpan span{.parameters = weights, .gradients = gradients, .learning_rate = optimizer.learning_rate(), .step = step};
    for (std::size_t slot = 0; slot < slots.size(); ++slot) span.slots.at(slot) = slots[slot];
    optimizer.update(0, span);
    for (std::size_t i = 0; i < weights.size(); ++i) ASSERT_NEAR(weights[i], expected.at(i).get<double>(), 1e-5) << "step " << step;
  }
}

TEST(OptimizerGolden, FollowsPyTorch) {
  const Json recording = parse_json(read_file("tests/golden/optimizers.json"));
  ASSERT_EQ(recording.at("cases").size(), 12U);
  for (const Json& recorded : recording.at("cases")) {
    SCOPED_TRACE(recorded.at("name").get<std::string>() + " " + recorded.at("options").dump());
    follow(recorded, recording.at("start").get<std::vector<float>>());
  }
}

}  // namespace
}  // namespace trireme::optim
