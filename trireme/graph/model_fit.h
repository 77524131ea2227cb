// SPDX-License-Identifier: Apache-2.0
// What the data decide of a [model] table: the size of a sample and the number of outputs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trireme/base/config.h"
#include "trireme/tensor/shape.h"

namespace trireme::graph {

// Origin of the values that follow from the data.
inline constexpr std::string_view kFromData = "the data";

// A sample, as far as a model depends on it.
struct SampleForm {
  Shape shape;
  std::int64_t classes = 0;  // 0: it has numbers to predict ...
  std::int64_t targets = 0;  // ... so many
  std::string title;         // what people call the data
  std::string class_option;  // the option that sets the number of classes, e.g. "data.classes"; empty: there is none
};

// `model` with every size that it leaves to the data: `channels`, `height`, `width`, `inputs` and `classes` of a model of the zoo; the size
// of the only input layer and `units` of a dense output layer; mean_squared_error where samples have numbers to predict.
// Throws invalid_argument, naming both values and the line, where model and data disagree.
Config fit_model(const Config& model, const SampleForm& sample);

// Whether the graph can be built without the data. Models of the zoo have defaults; layers have none.
bool is_complete(const Config& model);

// `model` without what may follow from the data: equal for a job as it was written and as it is trained.
Config without_sizes(const Config& model);

}  // namespace trireme::graph
