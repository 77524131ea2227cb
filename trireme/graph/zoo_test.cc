// SPDX-License-Identifier: Apache-2.0
// Tests of the zoo: exact parameter counts, and depths that don't exist.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "trireme/base/config.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/model_file.h"
#include "trireme/graph/op_options.h"

namespace trireme::graph {
namespace {

Graph from_toml(std::string_view toml) { return graph_from_config(Config::parse_toml(toml, "job.toml")); }

struct Known {
  std::string_view toml;
  std::int64_t parameters = 0;
};

class ZooCounts : public testing::TestWithParam<Known> {};

TEST_P(ZooCounts, AreExact) { EXPECT_EQ(from_toml(GetParam().toml).parameters().size(), GetParam().parameters) << GetParam().toml; }

// From Keras's and torchvision's own models, and the seeds' derivations.
INSTANTIATE_TEST_SUITE_P(Zoo, ZooCounts,
                         testing::Values(Known{"name = 'mlp_300_100'", 266610}, Known{"name = 'mlp_128'", 101770},
                                         Known{"name = 'mnist_cnn'", 1199882}, Known{"name = 'small_cnn'", 347146},
                                         Known{"name = 'resnet'", 273066}, Known{"name = 'resnet'\ndepth = 50", 760266},
                                         Known{"name = 'resnet'\ndepth = 56", 857706}, Known{"name = 'resnet_v2'", 1663338},
                                         Known{"name = 'densenet'", 175690}, Known{"name = 'resnet50'", 25557032},
                                         Known{"name = 'vgg16'", 138357544}));

TEST(Zoo, EveryModelEndsInItsClasses) {
  for (const ModelEntry& entry : zoo::catalog()) {
    const Graph graph = build_model(entry.name);
    EXPECT_EQ(graph.node(graph.output()).shape.rank(), 1U) << entry.name;
    EXPECT_EQ(graph.output(), graph.nodes().size() - 1) << entry.name;
    EXPECT_EQ(graph.inputs().size(), 1U) << entry.name;
    EXPECT_EQ(graph.loss(), "softmax_cross_entropy") << entry.name;
  }
}

TEST(Zoo, OptionsReachTheNetwork) {
  const Graph graph = from_toml("name = 'resnet'\ndepth = 8\nchannels = 1\nheight = 28\nwidth = 28\nclasses = 7\nl2 = 0.25");
  EXPECT_EQ(graph.node(0).shape, Shape({1, 28, 28}));
  EXPECT_EQ(graph.node(graph.output()).shape, Shape({7}));
  EXPECT_EQ(graph.parameters().find("stage2/block1/conv2d_3/kernel")->l2, 0.25);
  EXPECT_EQ(graph.parameters().find("dense_1/kernel")->l2, 0);
}

// Of all batch_norms of a network.
std::set<double> momenta_of(const std::string& toml) {
  std::set<double> momenta;
  const Graph graph = from_toml(toml);
  for (const Node& node : graph.nodes()) {
    if (node.op->name == "batch_norm") momenta.insert(node.options_as<BatchNormOptions>().momentum);
  }
  return momenta;
}

TEST(Zoo, EveryNetworkWithBatchNormHasItsMomentum) {
  for (const ModelEntry& entry : zoo::catalog()) {
    const std::string name = fmt::format("name = '{}'", entry.name);
    if (momenta_of(name).empty()) continue;
    EXPECT_EQ(momenta_of(name + "\nbatch_norm_momentum = 0.625"), std::set<double>{0.625}) << entry.name;
    // Statistics of the last 100 steps lag behind weights that adam moves: after 125 steps, half the training accuracy.
    EXPECT_EQ(momenta_of(name), std::set<double>{0.9}) << entry.name;
  }
}

TEST(Zoo, AMomentumOutOfRangeIsReportedWithItsPlace) {
  EXPECT_THAT(thrown_error([] { from_toml("name = 'resnet'\nbatch_norm_momentum = 1.5"); }),
              testing::AllOf(testing::HasSubstr("job.toml:2"), testing::HasSubstr("batch_norm_momentum")));
}

TEST(Zoo, ShapesInsideAreThePublishedOnes) {
  const Graph graph = build_model("resnet50");
  EXPECT_EQ(graph.find("max_pool_1")->shape, Shape({64, 56, 56}));
  EXPECT_EQ(graph.find("stage1/block3/relu_3")->shape, Shape({256, 56, 56}));
  EXPECT_EQ(graph.find("stage4/block3/relu_3")->shape, Shape({2048, 7, 7}));
  EXPECT_EQ(build_model("densenet").find("transition2/average_pool_1")->shape, Shape({60, 7, 7}));
}

TEST(Zoo, WrongDepthsAreReportedWithTheNearest) {
  EXPECT_EQ(thrown_error([] { from_toml("name = 'resnet'\ndepth = 21"); }),
            "invalid_argument: job.toml:1: model 'resnet': depth = 21 is not 6n + 2; the nearest that are: 20 and 26");
  EXPECT_EQ(thrown_error([] { from_toml("name = 'resnet_v2'\ndepth = 12"); }),
            "invalid_argument: job.toml:1: model 'resnet_v2': depth = 12 is not 9n + 2; the nearest that are: 11 and 20");
  EXPECT_EQ(thrown_error([] { from_toml("name = 'densenet'\ndepth = 41"); }),
            "invalid_argument: job.toml:1: model 'densenet': depth = 41 is not 6n + 4; the nearest that are: 40 and 46");
}

TEST(Zoo, UnknownModelIsReportedWithTheNearest) {
  EXPECT_EQ(
      thrown_error([] { build_model("resnet5"); }),
      "invalid_argument: there is no model 'resnet5'; did you mean 'resnet'? (models: densenet, mlp_128, mlp_300_100, mnist_cnn, resnet, "
      "resnet50, resnet_v2, small_cnn, vgg16)");
}

}  // namespace
}  // namespace trireme::graph
