// SPDX-License-Identifier: Apache-2.0
// [compare.matrix] to variants: combinations, labels, what is left out, what was published.
#include "trireme/experiment/experiment_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::experiment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Variant> variants_of(const std::string& compare) {
  const Config file = Config::parse_toml(
      "[model]\nname = 'mlp_128'\n[data]\nname = 'synthetic_digits'\n[train]\nepochs = 3\n[strategy]\nname = 'local_sgd'\nsteps = 4\n" +
          compare,
      "e.toml");
  Config::Table rows = file.table();
  std::erase_if(rows, [](const auto& row) { return row.first == "compare"; });
  return matrix_variants(Config(std::move(rows), "e.toml"), file.at("compare"), 2);
}

std::vector<std::string> labels(const std::vector<Variant>& variants) {
  std::vector<std::string> list;
  for (const Variant& variant : variants) list.push_back(variant.label);
  return list;
}

std::string fault_of(const std::string& compare) {
  return thrown_error([&] { variants_of(compare); });
}

TEST(Matrix, EveryCombinationIsAVariantLabelledByWhatVaries) {
  const auto variants = variants_of(R"(
[compare.matrix]
strategy = ["allreduce", "ps:async,servers=2"]
"train.batch_size" = [128, 256]
"train.epochs" = [5]
)");
  EXPECT_THAT(labels(variants), ElementsAre("allreduce, batch 128", "allreduce, batch 256", "ps:async,servers=2, batch 128",
                                            "ps:async,servers=2, batch 256"));
  EXPECT_EQ(variants[3].job.at("train").at("batch_size").integer(), 256);
  EXPECT_EQ(variants[3].job.at("train").at("epochs").integer(), 5);
  EXPECT_EQ(variants[3].job.at("strategy").at("servers").integer(), 2);
  EXPECT_EQ(variants[0].job.at("strategy").at("name").text(), "allreduce");
  EXPECT_EQ(variants[0].job.at("strategy").find("steps"), nullptr) << "an option of another strategy";
  EXPECT_EQ(variants[0].nodes, 2);
}

TEST(Matrix, NodesAndExclusions) {
  const auto variants = variants_of(R"(
[compare]
exclude = [ { nodes = 1, strategy = "ps:async" }, { "model.name" = "mlp_300_100", nodes = 3 } ]
[compare.matrix]
"model.name" = ["mlp_128", "mlp_300_100"]
strategy = ["allreduce", "ps:async"]
nodes = [1, 3]
)");
  EXPECT_THAT(labels(variants), ElementsAre("mlp_128, allreduce, 1 node", "mlp_128, allreduce, 3 nodes", "mlp_128, ps:async, 3 nodes",
                                            "mlp_300_100, allreduce, 1 node"));
  EXPECT_EQ(variants[2].nodes, 3);
}

TEST(Matrix, AnAxisOfTablesChangesSeveralThingsAtOnce) {
  const auto variants = variants_of(R"(
[compare]
published = [
  { when = { task = "B", "train.batch_size" = 20 }, accuracy = 0.5, seconds = 7 },
  { label = "A, batch 10", seconds = 3 },
]
[compare.matrix]
task = [
  { label = "A", model = { name = "mlp_128" }, strategy = { name = "allreduce" } },
  { label = "B", nodes = 4, model = { name = "mlp_300_100" }, strategy = { name = "ps", servers = 1 } },
]
"train.batch_size" = [10, 20]
)");
  EXPECT_THAT(labels(variants), ElementsAre("A, batch 10", "A, batch 20", "B, batch 10", "B, batch 20"));
  EXPECT_EQ(variants[2].nodes, 4);
  EXPECT_EQ(variants[2].job.at("model").at("name").text(), "mlp_300_100");
  EXPECT_EQ(variants[1].job.at("strategy").table().size(), 1U);
  EXPECT_EQ(variants[3].published.at("accuracy"), 0.5);
  EXPECT_EQ(variants[0].published.at("seconds"), 3);
  EXPECT_TRUE(variants[1].published.empty());
}

TEST(Matrix, MistakesAreReportedWithTheirPlace) {
  EXPECT_THAT(fault_of("[compare.matrix]\nbatch_size = [1, 2]\n"), HasSubstr("neither strategy, nodes, seeds nor a setting"));
  EXPECT_THAT(fault_of("[compare.matrix]\n'train.epochs' = 3\n"), HasSubstr("e.toml:11: 'train.epochs' in [compare.matrix] is a list"));
  EXPECT_THAT(fault_of("[compare.matrix]\n"), HasSubstr("has no lists"));
  EXPECT_THAT(fault_of("[compare]\nexclude = [ { node = 1 } ]\n[compare.matrix]\nnodes = [1]\n"), HasSubstr("'node' is no list"));
  EXPECT_THAT(fault_of("[compare]\npublished = [ { accuracy = 1 } ]\n[compare.matrix]\nnodes = [1]\n"), HasSubstr("either when"));
  EXPECT_THAT(fault_of("[compare]\npublished = [ { label = 'the one', speed = 1 } ]\n[compare.matrix]\nnodes = [1]\n"),
              HasSubstr("a comparison has no 'speed'"));
  EXPECT_THAT(fault_of("[compare.matrix]\nstrategy = ['allredduce']\n"), HasSubstr("allreduce"));
}

}  // namespace
}  // namespace trireme::experiment
