// SPDX-License-Identifier: Apache-2.0
// Tests of a model in numbers.
#include "trireme/graph/summary.h"

#include <gtest/gtest.h>

#include "trireme/graph/model_entry.h"

namespace trireme::graph {
namespace {

TEST(Summary, AddsUp) {
  const ModelSummary summary = summarize(build_model("mlp_128"));
  EXPECT_EQ(summary.layers.size(), 4U);
  EXPECT_EQ(summary.parameters, 101770);
  EXPECT_EQ(summary.parameter_bytes(), 407080);
  EXPECT_EQ(summary.activation_bytes, 4 * (784 + 128 + 128 + 10));
  EXPECT_EQ(summary.activation_bytes_of_batch(32), 32 * summary.activation_bytes);
  EXPECT_EQ(summary.cost.forward_flops, 2 * 784 * 128 + 128 + 128 + 2 * 128 * 10 + 10);
  EXPECT_EQ(summary.output, "dense_2");
  EXPECT_EQ(summary.layers[1].inputs, std::vector<std::string>{"input_1"});
}

TEST(Summary, FoldingBlocksKeepsTheSums) {
  const ModelSummary summary = summarize(build_model("resnet"));
  const std::vector<LayerSummary> rows = fold_blocks(summary.layers);
  ASSERT_EQ(rows.size(), 15U);
  EXPECT_EQ(rows[4].name, "stage1/block1");
  EXPECT_EQ(rows[4].op, "7 layers");
  EXPECT_EQ(rows[4].inputs, std::vector<std::string>{"relu_1"});
  EXPECT_EQ(rows[13].inputs, std::vector<std::string>{"stage3/block3"});
  std::int64_t parameters = 0;
  double flops = 0;
  for (const LayerSummary& row : rows) {
    parameters += row.parameters;
    flops += row.cost.forward_flops;
  }
  EXPECT_EQ(parameters, summary.parameters);
  EXPECT_EQ(flops, summary.cost.forward_flops);
}

}  // namespace
}  // namespace trireme::graph
