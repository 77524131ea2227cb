// SPDX-License-Identifier: Apache-2.0
// Reads recordings and remakes their inputs from the counter-based generator.
#include "tests/golden/recording.h"

#include <cmath>

#include "trireme/base/config.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/base/options.h"
#include "trireme/base/random.h"
#include "trireme/graph/model_entry.h"

namespace trireme::golden {
namespace {

RecordedStep step_of(const Json& json) { return {.loss = json.at("loss"), .penalty = json.at("penalty"), .correct = json.at("correct")}; }

RecordedGradient gradient_of(const Json& json) {
  return {.name = json.at("name"),
          .count = json.at("count"),
          .norm = json.at("norm"),
          .projections = json.at("projections"),
          .places = json.at("places"),
          .values = json.at("values")};
}

RecordedState state_of(const Json& json) {
  return {.name = json.at("name"), .count = json.at("count"), .norm = json.at("norm"), .first = json.at("first")};
}

RandomStream stream(const Recording& recording, std::string_view name) { return RandomStream(combine(recording.seed, hash_text(name))); }

struct Range {
  double low, high;
};

Range initial_range(const Slice& slice) {
  const auto ends_with = [&](std::string_view ending) { return slice.name.ends_with(ending); };
  if (ends_with("/gamma")) return {0.8, 1.2};
  if (ends_with("/beta") || ends_with("/bias")) return {-0.1, 0.1};
  ensure(ends_with("/kernel"), "record.py knows how to fill each slice");
  const std::int64_t inputs = slice.count / slice.shape[0];
  const double limit = std::sqrt(6.0 / static_cast<double>(inputs));
  return {-limit, limit};
}

}  // namespace

std::vector<std::string> recorded_names() { return {"mnist_cnn", "resnet_8", "densenet_10"}; }

Recording load_recording(const std::string& name) {
  const Json json = parse_json(read_file("tests/golden/" + name + ".json"));
  Recording recording{.model = json.at("model"),
                      .options = json.at("options"),
                      .seed = json.at("seed"),
                      .batch_size = json.at("batch_size"),
                      .learning_rate = json.at("learning_rate")};
  for (const Json& step : json.at("steps")) recording.steps.push_back(step_of(step));
  for (const Json& gradient : json.at("gradients")) recording.gradients.push_back(gradient_of(gradient));
  for (const Json& state : json.at("states")) recording.states.push_back(state_of(state));
  return recording;
}

graph::Graph graph_of(const Recording& recording) {
  const graph::ModelEntry& entry = graph::find_model(recording.model);
  std::any options = entry.options.defaults();
  const Config table = Config::parse_toml(recording.options, "recording");
  OptionReader reader(table, recording.model);
  entry.options.visit(options, reader);
  reader.finish();
  return entry.build(options);
}

std::vector<float> initial_parameters(const Recording& recording, const graph::Graph& graph) {
  std::vector<float> parameters;
  for (const Slice& slice : graph.parameters().slices()) {
    RandomStream random = stream(recording, slice.name);
    const Range range = initial_range(slice);
    for (std::int64_t i = 0; i < slice.count; ++i) parameters.push_back(static_cast<float>(random.uniform(range.low, range.high)));
  }
  return parameters;
}

std::vector<float> images_of(const Recording& recording, const graph::Graph& graph) {
  const std::int64_t count = graph.node(graph.inputs().at(0)).shape.count();
  std::vector<float> images(static_cast<std::size_t>(recording.batch_size * count));
  RandomStream random = stream(recording, "images");
  for (float& value : images) value = static_cast<float>(random.uniform());
  return images;
}

std::vector<std::int32_t> labels_of(const Recording& recording) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(recording.batch_size));
  RandomStream random = stream(recording, "labels");
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random.below(10));
  return labels;
}

std::vector<std::uint64_t> sample_keys_of(const Recording& recording, std::int64_t step) {
  const std::uint64_t root = combine(recording.seed, static_cast<std::uint64_t>(step));
  std::vector<std::uint64_t> keys;
  for (std::int64_t sample = 0; sample < recording.batch_size; ++sample) keys.push_back(combine(root, static_cast<std::uint64_t>(sample)));
  return keys;
}

double project(const Recording& recording, std::span<const float> values, std::size_t slice, std::size_t number) {
  const std::uint64_t index = slice * recording.gradients[slice].projections.size() + number;
  const auto key = static_cast<std::uint32_t>(combine(combine(recording.seed, hash_text("projection")), index));
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool negative = (random_bits(key, static_cast<std::uint32_t>(i)) >> 31) != 0;
    sum += negative ? -values[i] : values[i];
  }
  return sum;
}

}  // namespace trireme::golden
