// SPDX-License-Identifier: Apache-2.0
// Tests of models from job files: the same graph as the builder makes, and every message.
#include "trireme/graph/model_file.h"

#include <gtest/gtest.h>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/graph/builder.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/model_fit.h"

namespace trireme::graph {
namespace {

Graph from_toml(std::string_view toml) { return graph_from_config(Config::parse_toml(toml, "job.toml").at("model")); }
std::string failure(const std::string& toml) {
  return thrown_error([&] { from_toml(toml); });
}

std::vector<OptionRow> options_of(const Node& node) {
  std::any options = node.options;
  OptionLister lister;
  node.op->options.visit(options, lister);
  return lister.rows;
}

void expect_equal(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.nodes().size(), b.nodes().size());
  for (NodeId id = 0; id < a.nodes().size(); ++id) {
    EXPECT_EQ(a.node(id).name, b.node(id).name);
    EXPECT_EQ(a.node(id).op, b.node(id).op);
    EXPECT_EQ(a.node(id).inputs, b.node(id).inputs);
    EXPECT_EQ(a.node(id).shape, b.node(id).shape);
    const auto rows_a = options_of(a.node(id));
    const auto rows_b = options_of(b.node(id));
    for (std::size_t row = 0; row < rows_a.size(); ++row) EXPECT_EQ(rows_a[row].value, rows_b[row].value) << a.node(id).name;
  }
  EXPECT_EQ(a.output(), b.output());
  EXPECT_EQ(a.loss(), b.loss());
  EXPECT_EQ(a.parameters().size(), b.parameters().size());
}

constexpr std::string_view kBranches = R"([model]
loss = "mean_squared_error"
output = "scores"
[[model.layers]]
op = "input"
name = "image"
channels = 3
height = 8
width = 8
[[model.layers]]
op = "conv2d"
filters = 4
padding = "same"
bias = false
l2 = 1e-4
init = "he_normal"
[[model.layers]]
op = "batch_norm"
momentum = 0.9
[[model.layers]]
op = "conv2d"
name = "shortcut"
input = "image"
filters = 4
kernel = 1
[[model.layers]]
op = "add"
inputs = ["shortcut", "batch_norm_1"]
[[model.layers]]
op = "flatten"
[[model.layers]]
op = "dense"
name = "scores"
units = 5
)";

TEST(ModelFile, MakesTheSameGraphAsTheBuilder) {
  Builder b;
  const Value image = b.input({3, 8, 8}, "image");
  const Value main = b.batch_norm(
      b.conv2d(image, {.filters = 4, .padding = Padding::same(), .bias = false, .l2 = 1e-4, .init = "he_normal"}), {.momentum = 0.9});
  const Value shortcut = b.conv2d(image, {.filters = 4, .kernel = 1}, "shortcut");
  const Value sum = b.add(shortcut, main);
  expect_equal(from_toml(kBranches), b.finish(b.dense(b.flatten(sum), {.units = 5}, "scores"), "mean_squared_error"));
}

TEST(ModelFile, NamesANetworkOfTheZoo) {
  expect_equal(from_toml("[model]\nname = 'mnist_cnn'"), build_model("mnist_cnn"));
  EXPECT_EQ(from_toml("[model]\nname = 'mlp_128'\nloss = 'mean_squared_error'").loss(), "mean_squared_error");
}

TEST(ModelFile, SeveralInputsAreAllowed) {
  const Graph graph = from_toml(
      "[model]\nlayers = [{op = 'input', name = 'a', width = 3}, {op = 'input', name = 'b', width = 4}, {op = 'concat', inputs = ['a', "
      "'b']}]");
  EXPECT_EQ(graph.inputs().size(), 2U);
  EXPECT_EQ(graph.node(2).shape, Shape({7}));
}

TEST(ModelFile, TheSamplesOfTheDocumentationWork) {
  const std::string page = read_file("docs/job-file.md");
  const std::string fence = "```toml\n";
  int samples = 0;
  for (auto begin = page.find(fence); begin != std::string::npos; begin = page.find(fence, begin + 1)) {
    const auto text = begin + fence.size();
    const std::string sample = page.substr(text, page.find("```", text) - text);
    if (!sample.starts_with("[model]")) continue;  // other tables: cli/job_files_test.cc
    const Config model =
        fit_model(Config::parse_toml(sample, "job.toml").at("model"), {.shape = {3, 32, 32}, .classes = 10, .title = "cifar10"});
    EXPECT_GT(graph_from_config(model).parameters().size(), 0);
    ++samples;
  }
  EXPECT_EQ(samples, 2);
}

TEST(ModelFileErrors, TheTable) {
  EXPECT_EQ(failure("[model]\nloss = 'x'"),
            "invalid_argument: job.toml:1: [model] needs name = \"...\" (see 'trireme list models') or [[model.layers]]");
  EXPECT_EQ(failure("[model]\nname = 'resnet'\nlayers = []"),
            "invalid_argument: job.toml:3: [model] has both name and layers; give the name of a known model or layers of your own");
  EXPECT_EQ(failure("[model]\nlayers = []"), "invalid_argument: job.toml:2: the model has no layers");
  EXPECT_EQ(failure("[model]\nouput = 'x'\nlayers = []"),
            "invalid_argument: job.toml:2: a model with layers has no option 'ouput'; it has: layers, output, loss");
  EXPECT_EQ(failure("[model]\nname = 'resnet'\n\ndept = 20"),
            "invalid_argument: job.toml:4: model 'resnet' has no option 'dept'; did you mean 'depth'?");
  EXPECT_TRUE(failure("[model]\nname = 'resnett'").starts_with("invalid_argument: job.toml:2: there is no model 'resnett'; did you mean"));
}

// A model whose second layer is the given one.
std::string second(const std::string& layer) {
  return "[model]\n[[model.layers]]\nop = 'input'\nname = 'image'\nchannels = 3\nheight = 8\nwidth = 8\n[[model.layers]]\n" + layer;
}

TEST(ModelFileErrors, OpsAndOptions) {
  EXPECT_TRUE(failure(second("op = 'denze'\nname = 'x'"))
                  .starts_with("invalid_argument: job.toml:9: layer 'x': there is no op 'denze'; did you mean 'dense'? (ops: add, "));
  EXPECT_TRUE(failure(second("op = 'banana'")).starts_with("invalid_argument: job.toml:9: layer 2: there is no op 'banana' (ops: add, "));
  EXPECT_EQ(failure(second("name = 'x'")), "invalid_argument: job.toml:8: layer 'x' has no op, e.g. op = \"conv2d\"");
  EXPECT_EQ(failure(second("op = 'conv2d'\nfiltres = 3")),
            "invalid_argument: job.toml:10: layer 'conv2d_1' (conv2d) has no option 'filtres'; did you mean 'filters'?");
  EXPECT_EQ(failure(second("op = 'conv2d'\nname = 'first'\nfilters = -3")),
            "invalid_argument: job.toml:11: layer 'first' (conv2d): filters = -3, must be 1 to 1048576");
  EXPECT_EQ(failure(second("op = 'conv2d'")), "invalid_argument: job.toml:8: layer 'conv2d_1' (conv2d): needs filters (1 to 1048576)");
  EXPECT_EQ(failure(second("op = 'dense'\nunits = 3")),
            "invalid_argument: job.toml:8: layer 'dense_1' (dense): needs a vector, the input is 3x8x8; put a flatten layer before it");
  EXPECT_EQ(failure(second("op = 'relu'\nname = 'image'")),
            "invalid_argument: job.toml:8: layer 'image' (relu): the name is taken by an earlier layer");
}

TEST(ModelFileErrors, Inputs) {
  EXPECT_EQ(failure("[model]\nlayers = [{op = 'relu'}]"),
            "invalid_argument: job.toml:2: layer 'relu_1' (relu): no layer stands before it; begin with op = \"input\"");
  EXPECT_EQ(failure(second("op = 'relu'\ninput = 'imag'")),
            "invalid_argument: job.toml:10: layer 'relu_1' (relu): there is no earlier layer 'imag'; did you mean 'image'?");
  EXPECT_EQ(failure(second("op = 'relu'\ninput = 'data'")),
            "invalid_argument: job.toml:10: layer 'relu_1' (relu): there is no earlier layer 'data' (layers: image)");
  EXPECT_EQ(failure(second("op = 'add'")),
            "invalid_argument: job.toml:8: layer 'add_1' (add): needs inputs = [\"...\", \"...\"], names of earlier layers");
  EXPECT_EQ(failure(second("op = 'relu'\ninput = 'image'\ninputs = ['image']")),
            "invalid_argument: job.toml:10: layer 'relu_1' (relu): give input or inputs, not both");
  EXPECT_EQ(failure(second("op = 'relu'\ninputs = 'image'")), "invalid_argument: job.toml:10: expected a list, found the text \"image\"");
}

TEST(ModelFileErrors, Outputs) {
  EXPECT_EQ(failure(second("op = 'flatten'\n[[model.layers]]\nop = 'dense'\nunits = 2\n[[model.layers]]\nop = 'flatten'\ninput = 'image'")),
            "invalid_argument: job.toml:10: layer 'dense_1' (dense) leads nowhere: no layer uses it and it is not the output");
  EXPECT_EQ(failure("[model]\noutput = 'out'\nlayers = [{op = 'input', name = 'in', width = 3}]"),
            "invalid_argument: job.toml:2: output: there is no earlier layer 'out' (layers: in)");
  EXPECT_EQ(failure(second("op = 'relu'")),
            "invalid_argument: job.toml:1: the loss softmax_cross_entropy needs a vector of classes, the output, layer 'relu_1' (relu), is "
            "3x8x8; end the model with a dense layer");
  EXPECT_EQ(
      failure(second("op = 'flatten'\n[[model.layers]]\nop = 'softmax'")),
      "invalid_argument: job.toml:1: layer 'softmax_1' (softmax): the loss softmax_cross_entropy applies softmax itself; leave the last "
      "layer out");
}

}  // namespace
}  // namespace trireme::graph
