// SPDX-License-Identifier: Apache-2.0
// Reads the samples and puts their truth beside them.
#include "trireme/run/learned/sample_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "trireme/base/error.h"
#include "trireme/data/pipeline/batch_maker.h"
#include "trireme/data/source/permutation.h"
#include "trireme/run/learned/sample_view.h"

namespace trireme::run {
namespace {

constexpr std::size_t kAnswers = 3;  // classes with the highest probabilities

std::string class_name(const std::vector<std::string>& names, std::int64_t number) {
  const auto index = static_cast<std::size_t>(number);
  return index < names.size() ? names[index] : std::to_string(number);
}

Json class_json(const std::vector<std::string>& names, std::int64_t number) {
  return {{"class", number}, {"name", class_name(names, number)}};
}

Json class_json(const std::vector<std::string>& names, std::int64_t number, double probability) {
  Json json = class_json(names, number);
  json["probability"] = probability;
  return json;
}

std::vector<std::size_t> best_first(const std::vector<float>& outputs) {
  std::vector<std::size_t> order(outputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = static_cast<std::ptrdiff_t>(std::min(kAnswers, order.size()));
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](std::size_t a, std::size_t b) { return outputs[a] != outputs[b] ? outputs[a] > outputs[b] : a < b; });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

// Beside what the sample looks like.
void add_answers(Json& json, const Mistake& mistake, const Assessed& assessed) {
  if (!classifies(assessed.graph)) {
    const std::span<const float> truth = assessed.samples->target(mistake.sample);
    json["truth"] = std::vector<float>(truth.begin(), truth.end());
    json["answers"] = mistake.outputs;
    json["error"] = mistake.severity;
    return;
  }
  const std::int64_t label = assessed.samples->label(mistake.sample);
  json["truth"] = class_json(assessed.class_names, label, mistake.outputs[static_cast<std::size_t>(label)]);
  json["answers"] = Json::array();
  for (const std::size_t answer : best_first(mistake.outputs))
    json["answers"].push_back(class_json(assessed.class_names, static_cast<std::int64_t>(answer), mistake.outputs[answer]));
}

std::string text_of(const data::AugmentOptions& augment) {
  std::string text = augment.flip ? "flip" : "";
  if (augment.pad > 0) text += fmt::format("{}pad {} and crop", text.empty() ? "" : ", ", augment.pad);
  return text;
}

class Examples {
 public:
  Examples(const data::DataSets& sets, const data::DataRequest& request, std::uint64_t seed)
      : sets_(sets), seed_(seed), format_(sets.train->format()), transform_(format_, sets.normalization, request.augment) {}

  Json example(std::int64_t index) const {
    std::vector<std::byte> stored(format_.sample_bytes());
    sets_.train->read(index, stored);
    std::vector<float> values(static_cast<std::size_t>(format_.shape.count()));
    transform_.apply(stored, data::sample_key(seed_, 0, index), values);
    // A picture in the colours of its file is easier to judge; rows and curves stay as the network gets them.
    if (format_.shape.rank() == 3 && format_.shape[1] > 1) undo(sets_.normalization, format_, values);
    Json json{{"name", short_name(sets_.train->sample_name(index))}};
    json.update(view_of_values(format_, values, kRunPictureEdge, format_.value_names));
    if (format_.classes > 0) {
      json["truth"] = class_json(sets_.class_names, sets_.train->label(index));
    } else {
      const std::span<const float> target = sets_.train->target(index);
      json["truth"] = std::vector<float>(target.begin(), target.end());
    }
    return json;
  }

 private:
  const data::DataSets& sets_;
  std::uint64_t seed_;
  const data::SampleFormat& format_;
  data::Transform transform_;
};

}  // namespace

Json mistakes_document(const Assessment& assessment, const Assessed& assessed, std::int64_t max_edge) {
  Json document{{"samples", assessment.evaluation.samples},
                {"of", assessment.evaluation.of},
                {"wrong", classifies(assessed.graph) ? Json(assessment.wrong) : Json()},
                {"shown", Json::array()}};
  for (const Mistake& mistake : assessment.mistakes) {
    Json json{{"name", short_name(assessed.samples->sample_name(mistake.sample))}};
    json.update(view_of_values(assessed.samples->format(), stored_values(*assessed.samples, mistake.sample), max_edge,
                               assessed.samples->format().value_names));
    add_answers(json, mistake, assessed);
    document["shown"].push_back(std::move(json));
  }
  return document;
}

Json examples_document(const data::DataSets& sets, const data::DataRequest& request, std::uint64_t seed, std::int64_t count) {
  Json document{{"augmented", text_of(request.augment)}, {"normalized", sets.normalization.kind}, {"samples", Json::array()}};
  const std::int64_t size = sets.train->size();
  const std::vector<std::int64_t> order = request.pipeline.shuffle ? data::epoch_permutation(size, seed, 0) : std::vector<std::int64_t>{};
  const Examples examples(sets, request, seed);
  for (std::int64_t i = 0; i < std::min(count, size); ++i)
    document["samples"].push_back(examples.example(order.empty() ? i : order[static_cast<std::size_t>(i)]));
  return document;
}

}  // namespace trireme::run
