// SPDX-License-Identifier: Apache-2.0
// Sizes go by the names of options: those of the zoo's image_options.h and vector_options.h, and of the ops `input` and `dense`.
#include "trireme/graph/model_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/error_context.h"
#include "trireme/base/options.h"
#include "trireme/graph/model_entry.h"
#include "trireme/graph/model_file.h"

namespace trireme::graph {
namespace {

constexpr std::array<std::string_view, 3> kExtents{"channels", "height", "width"};

struct Size {
  std::string_view key;
  std::int64_t value = 0;
};

// As the options of an input have them: a vector has a width only.
std::vector<Size> sizes_of(const Shape& shape) {
  if (shape.rank() == 1) return {{"width", shape[0]}};
  if (shape.rank() == 2) return {{"channels", shape[0]}, {"width", shape[1]}};
  return {{"channels", shape[0]}, {"height", shape[1]}, {"width", shape[2]}};
}

std::string sample_text(const SampleForm& sample) {
  const Shape& shape = sample.shape;
  if (shape.rank() == 1) return fmt::format("a sample of '{}' is a vector of {} values", sample.title, shape[0]);
  return fmt::format("a sample of '{}' is {} ({})", sample.title, shape.to_string(),
                     shape.rank() == 2 ? "channels x width" : "channels x height x width");
}

// How many outputs the loss needs; 0: it does not fit these data at all, which check_fit explains.
std::int64_t outputs_of(const Config& model, const SampleForm& sample) {
  const Config* loss = model.find("loss");
  const bool has_classes = loss == nullptr ? sample.classes > 0 : loss->text() == "softmax_cross_entropy";
  return has_classes ? sample.classes : sample.targets;
}

std::string outputs_text(const SampleForm& sample) {
  if (sample.classes == 0) return fmt::format("a sample of '{}' has {} numbers to predict", sample.title, sample.targets);
  return fmt::format("'{}' has {} {}", sample.title, sample.classes, sample.classes == 1 ? "class" : "classes");
}

// What else could be meant by more outputs than classes.
std::string outputs_advice(const SampleForm& sample, std::int64_t given) {
  if (sample.class_option.empty() || sample.classes >= given) return "";
  return fmt::format("; if there are classes without a sample, write {} = {}", sample.class_option, given);
}

std::int64_t value_of(const Config& table, std::string_view key, std::int64_t otherwise) {
  const Config* given = table.find(key);
  return given == nullptr ? otherwise : given->integer();
}

// Fills what is missing in a table of the model, and compares what is not.
class TableFit {
 public:
  // `owner` is what the table describes, "model 'resnet'".
  TableFit(Config& table, std::string owner) : table_(table), owner_(std::move(owner)) {}

  void require(const Size& size, const std::string& fact, const std::string& advice = "") {
    const Config* given = table_.find(size.key);
    if (given != nullptr && given->integer() != size.value)
      throw Error{invalid_argument,
                  "{}: {}: {} is {}, but {}; leave {} out, and it follows the data{}",
                  given->origin(),
                  owner_,
                  size.key,
                  given->integer(),
                  fact,
                  size.key,
                  advice};
    if (given == nullptr) table_.put(size.key, Config(size.value, std::string(kFromData)));
  }

 private:
  Config& table_;
  std::string owner_;
};

class ZooFit {
 public:
  ZooFit(Config& model, const SampleForm& sample)
      : model_(model), sample_(sample), name_(model.at("name").text()), fit_(model, fmt::format("model '{}'", name_)) {
    const OptionsType& type = with_context(model.at("name").origin(), [&] { return &find_model(name_); })->options;
    std::any defaults = type.defaults();
    OptionLister lister;
    type.visit(defaults, lister);
    options_ = std::move(lister.rows);
  }

  void run() {
    if (has("inputs"))
      fit_.require({"inputs", sample_.shape.count()}, sample_text(sample_));
    else if (sample_.shape.rank() == 3)
      require_all(sizes_of(sample_.shape));
    else if (std::ranges::any_of(kExtents, [&](std::string_view key) { return has(key); }))
      fit_to_values();
    const std::int64_t outputs = outputs_of(model_, sample_);
    if (outputs > 0 && has("classes"))
      fit_.require({"classes", outputs}, outputs_text(sample_), outputs_advice(sample_, value_of(model_, "classes", 0)));
  }

 private:
  bool has(std::string_view key) const { return std::ranges::find(options_, key, &OptionRow::name) != options_.end(); }

  void require_all(const std::vector<Size>& sizes) {
    for (const Size& size : sizes)
      if (has(size.key)) fit_.require(size, sample_text(sample_));
  }

  Shape image() const {
    std::vector<std::int64_t> extents;
    for (const std::string_view key : kExtents) {
      const auto row = std::ranges::find(options_, key, &OptionRow::name);
      if (row != options_.end()) extents.push_back(value_of(model_, key, std::stoll(row->value)));
    }
    return Shape(std::move(extents));
  }

  // A vector or a sequence in a model of images: a row of pixels, unless the image that is described has as many values.
  void fit_to_values() {
    if (image().count() == sample_.shape.count()) return;
    const bool described = std::ranges::any_of(kExtents, [&](std::string_view key) { return model_.find(key) != nullptr; });
    if (sample_.shape.rank() == 2 && !described)
      return require_all({{"channels", sample_.shape[0]}, {"height", 1}, {"width", sample_.shape[1]}});
    throw Error{
        invalid_argument,
        "{}: model '{}' takes images of {} (model.channels, model.height, model.width), but {}; write three numbers whose product is "
        "{}, or take a model of vectors, e.g. mlp_300_100",
        model_.at("name").origin(),
        name_,
        image().to_string(),
        sample_text(sample_),
        sample_.shape.count()};
  }

  Config& model_;
  const SampleForm& sample_;
  std::string name_;
  TableFit fit_;
  std::vector<OptionRow> options_;
};

bool is_of(const Config& layer, std::string_view op) {
  const Config* given = layer.find("op");
  return given != nullptr && given->text() == op;
}

std::string label(const Config& layer) {
  const Config* name = layer.find("name");
  return name == nullptr ? fmt::format("layer of op {}", layer.at("op").text())
                         : fmt::format("layer '{}' ({})", name->text(), layer.at("op").text());
}

// The only input layer. With several, data can't say which is which.
Config* find_input(Config::List& layers) {
  Config* found = nullptr;
  for (Config& layer : layers) {
    if (!is_of(layer, "input")) continue;
    if (found != nullptr) return nullptr;
    found = &layer;
  }
  return found;
}

// The layer whose `units` are the model's outputs; null if its output comes from another kind.
Config* find_output(const Config& model, Config::List& layers) {
  const Config* output = model.find("output");
  const auto is_output = [&](const Config& layer) {
    const Config* name = layer.find("name");
    return name != nullptr && name->text() == output->text();
  };
  const auto layer = output == nullptr ? layers.end() - (layers.empty() ? 0 : 1) : std::ranges::find_if(layers, is_output);
  return layer != layers.end() && is_of(*layer, "dense") ? &*layer : nullptr;
}

// A shape that is given is taken as it is if it has as many values as a sample.
bool describes(const Config& input, const Shape& sample) {
  if (input.find("width") == nullptr || (input.find("height") != nullptr && input.find("channels") == nullptr)) return false;
  std::int64_t count = 1;
  for (const std::string_view key : kExtents) count *= std::max<std::int64_t>(1, value_of(input, key, 1));
  return count == sample.count();
}

void fit_input(Config& input, const SampleForm& sample) {
  if (describes(input, sample.shape)) return;
  const std::vector<Size> sizes = sizes_of(sample.shape);
  for (const std::string_view key : kExtents) {
    const Config* given = input.find(key);
    if (given != nullptr && std::ranges::find(sizes, key, &Size::key) == sizes.end())
      throw Error{invalid_argument,
                  "{}: {}: {} is {}, but {}; leave {} out, and the layer follows the data",
                  given->origin(),
                  label(input),
                  key,
                  given->integer(),
                  sample_text(sample),
                  key};
  }
  TableFit fit(input, label(input));
  for (const Size& size : sizes) fit.require(size, sample_text(sample));
}

void fit_layers(Config& model, const SampleForm& sample) {
  const Config& given = model.at("layers");
  Config::List layers = given.list();
  if (Config* input = find_input(layers)) fit_input(*input, sample);
  const std::int64_t outputs = outputs_of(model, sample);
  Config* output = find_output(model, layers);
  if (output != nullptr && outputs > 0)
    TableFit(*output, label(*output))
        .require({"units", outputs}, outputs_text(sample), outputs_advice(sample, value_of(*output, "units", 0)));
  model.put("layers", Config(std::move(layers), fmt::format("{}{}", given.origin(), is_complete(model) ? "" : ", sizes from the data")));
}

// What no option could set: the graph itself has another number of outputs.
void check_outputs(const Config& model, const SampleForm& sample) {
  const Graph graph = graph_from_config(model);
  const Node& output = graph.node(graph.output());
  const std::int64_t outputs = outputs_of(model, sample);
  if (outputs > 0 && output.shape.count() != outputs)
    throw Error{
        invalid_argument,
        "{}: the output, layer '{}' ({}), has {} values, but {}; change the layers that decide it, or end the model with a dense layer "
        "without units",
        model.origin(),
        output.name,
        output.op->name,
        output.shape.count(),
        outputs_text(sample)};
}

}  // namespace

Config fit_model(const Config& model, const SampleForm& sample) {
  Config fitted = model;
  if (model.find("loss") == nullptr && sample.classes == 0 && sample.targets > 0)
    fitted.put("loss", Config(std::string("mean_squared_error"), std::string(kFromData)));
  if (model.find("layers") != nullptr)
    fit_layers(fitted, sample);
  else if (model.find("name") != nullptr)
    ZooFit(fitted, sample).run();
  check_outputs(fitted, sample);
  return fitted;
}

bool is_complete(const Config& model) {
  const Config* given = model.find("layers");
  if (given == nullptr) return true;
  Config::List layers = given->list();
  const Config* input = find_input(layers);
  const Config* output = find_output(model, layers);
  return (input == nullptr || input->find("width") != nullptr) && (output == nullptr || output->find("units") != nullptr);
}

Config without_sizes(const Config& model) {
  Config bare = model;
  for (const std::string_view key : {"channels", "height", "width", "inputs", "classes", "loss"}) bare.erase(key);
  const Config* given = model.find("layers");
  if (given == nullptr) return bare;
  Config::List layers = given->list();
  if (Config* input = find_input(layers))
    for (const std::string_view key : kExtents) input->erase(key);
  if (Config* output = find_output(model, layers)) output->erase("units");
  bare.put("layers", Config(std::move(layers), given->origin()));
  return bare;
}

}  // namespace trireme::graph
