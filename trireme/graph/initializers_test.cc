// SPDX-License-Identifier: Apache-2.0
// Tests of initial values: determinism, limits and moments.
#include "trireme/graph/initializers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "trireme/graph/builder.h"
#include "trireme/graph/model_entry.h"

namespace trireme::graph {
namespace {

std::vector<float> initial(const Graph& graph, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(graph.parameters().size()));
  graph.initialize_parameters(values, seed);
  return values;
}

Graph one_dense(const std::string& init, const std::string& name = "dense") {
  Builder b;
  return b.finish(b.dense(b.input({2000}), {.units = 500, .bias = false, .init = init}, name));
}

double deviation(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST(Initializers, DependOnSeedAndNameOnly) {
  const Graph graph = build_model("resnet");
  EXPECT_EQ(initial(graph, 1), initial(build_model("resnet"), 1));
  EXPECT_NE(initial(graph, 1), initial(graph, 2));
  EXPECT_NE(initial(one_dense("he_normal", "a"), 1), initial(one_dense("he_normal", "b"), 1));
}

TEST(Initializers, GlorotUniformFillsItsLimits) {
  const std::vector<float> values = initial(one_dense("glorot_uniform"), 3);
  const double limit = std::sqrt(6.0 / 2500);
  EXPECT_NEAR(*std::max_element(values.begin(), values.end()), limit, 0.001);
  EXPECT_NEAR(*std::min_element(values.begin(), values.end()), -limit, 0.001);
  EXPECT_NEAR(deviation(values), limit / std::sqrt(3.0), 0.001);
}

TEST(Initializers, HeNormalIsCutAtTwoAndKeepsItsDeviation) {
  const std::vector<float> values = initial(one_dense("he_normal"), 3);
  const double wanted = std::sqrt(2.0 / 2000);
  EXPECT_NEAR(deviation(values), wanted, 0.003 * wanted);
  for (const float value : values) ASSERT_LT(std::abs(value), 2 * wanted / 0.8796);
}

TEST(Initializers, BatchNormStartsAsIdentity) {
  Builder b;
  const Graph graph = b.finish(b.batch_norm(b.input({3, 2, 2})));
  std::vector<float> states(7);
  graph.initialize_states(states);
  EXPECT_EQ(initial(graph, 9), (std::vector<float>{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(states, (std::vector<float>{0, 0, 0, 1, 1, 1, 0}));
}

}  // namespace
}  // namespace trireme::graph
