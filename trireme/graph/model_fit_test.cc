// SPDX-License-Identifier: Apache-2.0
// Sizes that follow from the data, and the messages where a model says something else.
#include "trireme/graph/model_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/graph/model_file.h"

namespace trireme::graph {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const SampleForm kPhotos{.shape = {3, 64, 64}, .classes = 5, .title = "photos"};
const SampleForm kSpectra{.shape = {1, 512}, .classes = 4, .title = "spectra"};
const SampleForm kTable{.shape = {784}, .classes = 10, .title = "table", .class_option = "data.classes"};

Config model_of(const std::string& text) { return Config::parse_toml(text, "job.toml").at("model"); }
Config fitted(const std::string& text, const SampleForm& sample) { return fit_model(model_of(text), sample); }
Graph graph_of(const std::string& text, const SampleForm& sample) { return graph_from_config(fitted(text, sample)); }
std::string failure(const std::string& text, const SampleForm& sample) {
  return thrown_error([&] { fitted(text, sample); });
}
Shape input_of(const Graph& graph) { return graph.node(graph.inputs().at(0)).shape; }
Shape output_of(const Graph& graph) { return graph.node(graph.output()).shape; }

TEST(ModelFit, AModelOfTheZooTakesItsSizesFromTheData) {
  const Graph graph = graph_of("[model]\nname = 'resnet'\n", kPhotos);
  EXPECT_EQ(input_of(graph), (Shape{3, 64, 64}));
  EXPECT_EQ(output_of(graph), (Shape{5}));
  EXPECT_EQ(fitted("[model]\nname = 'resnet'\n", kPhotos).at("height").origin(), "the data");
  EXPECT_EQ(input_of(graph_of("[model]\nname = 'mlp_128'\n", kPhotos)), (Shape{3 * 64 * 64}));
  EXPECT_EQ(input_of(graph_of("[model]\nname = 'resnet'\n", kSpectra)), (Shape{1, 1, 512}));
}

TEST(ModelFit, AValueThatDisagreesIsAnErrorWithBothAndTheLine) {
  EXPECT_THAT(failure("[model]\nname = 'resnet'\nheight = 32\n", kPhotos),
              AllOf(HasSubstr("job.toml:3"), HasSubstr("height is 32"), HasSubstr("3x64x64"), HasSubstr("leave height out")));
  EXPECT_THAT(failure("[model]\nname = 'resnet'\n\nclasses = 10\n", kPhotos),
              AllOf(HasSubstr("job.toml:4"), HasSubstr("classes is 10"), HasSubstr("'photos' has 5 classes")));
  EXPECT_THAT(failure("[model]\nname = 'mlp_128'\ninputs = 3\n", kTable), AllOf(HasSubstr("inputs is 3"), HasSubstr("784 values")));
  EXPECT_THAT(failure("[model]\nname = 'mlp_128'\nclasses = 12\n", kTable), HasSubstr("write data.classes = 12"));
  EXPECT_EQ(failure("[model]\nname = 'resnet'\nheight = 64\nclasses = 5\n", kPhotos), "no error");
}

// A table of pixels: which of them stand side by side only the job can say.
TEST(ModelFit, RowsOfATableMayBePictures) {
  EXPECT_EQ(input_of(graph_of("[model]\nname = 'mnist_cnn'\n", kTable)), (Shape{1, 28, 28}));
  EXPECT_EQ(input_of(graph_of("[model]\nname = 'resnet'\nchannels = 4\nheight = 14\nwidth = 14\n", kTable)), (Shape{4, 14, 14}));
  EXPECT_THAT(failure("[model]\nname = 'resnet'\n", kTable),
              AllOf(HasSubstr("job.toml:2"), HasSubstr("3x32x32"), HasSubstr("model.height"), HasSubstr("product is 784")));
}

const std::string kLayers = R"([model]
[[model.layers]]
op = "input"
[[model.layers]]
op = "flatten"
[[model.layers]]
op = "dense"
name = "scores"
)";

TEST(ModelFit, LayersTakeInputAndOutputFromTheData) {
  EXPECT_FALSE(is_complete(model_of(kLayers)));
  const Graph graph = graph_of(kLayers, kPhotos);
  EXPECT_EQ(input_of(graph), (Shape{3, 64, 64}));
  EXPECT_EQ(output_of(graph), (Shape{5}));
  EXPECT_TRUE(is_complete(fitted(kLayers, kPhotos)));
  EXPECT_THAT(fitted(kLayers, kPhotos).at("layers").origin(), HasSubstr("the data"));
}

TEST(ModelFit, LayersThatDisagreeAreErrorsWithBothAndTheLine) {
  EXPECT_THAT(failure(kLayers + "units = 10\n", kPhotos),
              AllOf(HasSubstr("job.toml:9"), HasSubstr("'scores'"), HasSubstr("units is 10"), HasSubstr("5 classes")));
  const std::string sized = "[model]\n[[model.layers]]\nop = 'input'\nwidth = 784\n[[model.layers]]\nop = 'dense'\n";
  EXPECT_THAT(failure(sized, kPhotos), AllOf(HasSubstr("job.toml:4"), HasSubstr("width is 784"), HasSubstr("3x64x64")));
  EXPECT_EQ(input_of(graph_of(sized, {.shape = {1, 28, 28}, .classes = 10, .title = "digits"})), (Shape{784}));
  const std::string pooled = "[model]\n[[model.layers]]\nop = 'input'\n[[model.layers]]\nop = 'global_average_pool'\n";
  EXPECT_THAT(failure(pooled, kPhotos), AllOf(HasSubstr("has 3 values"), HasSubstr("5 classes")));
}

TEST(ModelFit, NumbersToPredictSetTheLoss) {
  const SampleForm prices{.shape = {8}, .targets = 2, .title = "prices"};
  const Graph graph = graph_of("[model]\nname = 'mlp_128'\n", prices);
  EXPECT_EQ(graph.loss(), "mean_squared_error");
  EXPECT_EQ(output_of(graph), (Shape{2}));
}

TEST(ModelFit, WithoutSizesAModelIsTheSameBeforeAndAfter) {
  for (const std::string& text : {kLayers, std::string("[model]\nname = 'resnet'\ndepth = 8\n")})
    EXPECT_EQ(without_sizes(model_of(text)).to_toml(), without_sizes(fitted(text, kPhotos)).to_toml());
}

}  // namespace
}  // namespace trireme::graph
