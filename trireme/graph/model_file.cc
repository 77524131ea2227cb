// SPDX-License-Identifier: Apache-2.0
// Reads the [model] table of a job file.
#include "trireme/graph/model_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "trireme/base/error.h"
#include "trireme/base/error_context.h"
#include "trireme/graph/builder.h"
#include "trireme/graph/model_entry.h"

namespace trireme::graph {
namespace {

const std::vector<std::string_view> kLayerKeys{"op", "name", "input", "inputs"};  // of any layer; the others are its op's options

std::any read_entry_options(const OptionsType& type, const Config& table, std::string place, std::vector<std::string_view> reserved) {
  std::any options = type.defaults();
  OptionReader reader(table, std::move(place), std::move(reserved));
  type.visit(options, reader);
  reader.finish();
  return options;
}

std::string label(const Node& node) { return fmt::format("layer '{}' ({})", node.name, node.op->name); }

const OpEntry& op_of(const Config& layer, const std::string& place) {
  const Config* op = layer.find("op");
  if (op == nullptr) throw Error{invalid_argument, "{}: {} has no op, e.g. op = \"conv2d\"", layer.origin(), place};
  return *with_context(fmt::format("{}: {}", op->origin(), place), [&] { return &find_op(op->text()); });
}

class LayersReader {
 public:
  void read(const Config& layer);
  Graph finish(const Config& model);

 private:
  std::vector<Value> inputs_of(const Config& layer, const OpEntry& op, const std::string& place) const;
  Value find(const Config& name, const std::string& place) const;
  void check_all_used(const Graph& graph) const;

  Builder builder_;
  std::vector<std::string> names_;    // of the layers read so far, by node
  std::vector<std::string> origins_;  // where they stand in the file
};

void LayersReader::read(const Config& layer) {
  const Config* given = layer.find("name");
  const std::string called = given != nullptr ? fmt::format("layer '{}'", given->text()) : fmt::format("layer {}", names_.size() + 1);
  const OpEntry& op = op_of(layer, called);
  const std::string name = given != nullptr ? given->text() : builder_.free_name(op.name);
  const std::string place = fmt::format("layer '{}' ({})", name, op.name);

  std::any options = read_entry_options(op.options, layer, place, kLayerKeys);
  const std::vector<Value> inputs = inputs_of(layer, op, place);
  with_context(layer.origin(), [&] { return builder_.apply(op.name, std::move(options), inputs, name); });
  names_.push_back(name);
  origins_.push_back(layer.origin());
}

std::vector<Value> LayersReader::inputs_of(const Config& layer, const OpEntry& op, const std::string& place) const {
  const Config* one = layer.find("input");
  const Config* several = layer.find("inputs");
  if (one != nullptr && several != nullptr) throw Error{invalid_argument, "{}: {}: give input or inputs, not both", one->origin(), place};
  if (one != nullptr) return {find(*one, place)};
  if (several != nullptr) {
    std::vector<Value> values;
    for (const Config& name : several->list()) values.push_back(find(name, place));
    return values;
  }
  if (op.max_inputs == 0) return {};
  if (op.min_inputs > 1)
    throw Error{invalid_argument, "{}: {}: needs inputs = [\"...\", \"...\"], names of earlier layers", layer.origin(), place};
  if (names_.empty()) throw Error{invalid_argument, "{}: {}: no layer stands before it; begin with op = \"input\"", layer.origin(), place};
  return {{names_.size() - 1}};
}

Value LayersReader::find(const Config& name, const std::string& place) const {
  const auto found = std::find(names_.begin(), names_.end(), name.text());
  if (found != names_.end()) return {static_cast<NodeId>(found - names_.begin())};
  const std::string guess = nearest(name.text(), {names_.begin(), names_.end()});
  const std::string hint = !guess.empty()        ? fmt::format("; did you mean '{}'?", guess)
                           : names_.size() <= 12 ? fmt::format(" (layers: {})", fmt::join(names_, ", "))
                                                 : "";
  throw Error{invalid_argument, "{}: {}: there is no earlier layer '{}'{}", name.origin(), place, name.text(), hint};
}

// A graph has one output, so a layer that no other uses is a slip of the pen.
void LayersReader::check_all_used(const Graph& graph) const {
  std::vector<bool> used(graph.nodes().size(), false);
  used[graph.output()] = true;
  for (const Node& node : graph.nodes()) {
    for (const NodeId input : node.inputs) used[input] = true;
  }
  for (NodeId id = 0; id < used.size(); ++id) {
    if (!used[id])
      throw Error{invalid_argument, "{}: {} leads nowhere: no layer uses it and it is not the output", origins_[id], label(graph.node(id))};
  }
}

Graph LayersReader::finish(const Config& model) {
  if (names_.empty()) throw Error{invalid_argument, "{}: the model has no layers", model.at("layers").origin()};
  const Config* output = model.find("output");
  const Value last{names_.size() - 1};
  Graph graph = builder_.finish(output == nullptr ? last : find(*output, "output"));
  check_all_used(graph);
  return graph;
}

Graph from_layers(const Config& model) {
  for (const auto& [key, value] : model.table()) {
    static const std::vector<std::string_view> kKnown{"layers", "output", "loss"};
    if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end())
      throw Error{invalid_argument, "{}: a model with layers has no option '{}'; it has: {}", value.origin(), key, fmt::join(kKnown, ", ")};
  }
  LayersReader reader;
  for (const Config& layer : model.at("layers").list()) reader.read(layer);
  return reader.finish(model);
}

Graph from_zoo(const Config& model) {
  const Config& name = model.at("name");
  const ModelEntry& entry = *with_context(name.origin(), [&] { return &find_model(name.text()); });
  const std::any options = read_entry_options(entry.options, model, fmt::format("model '{}'", entry.name), {"name", "loss"});
  return with_context(model.origin(), [&] { return entry.build(options); });
}

// Cross-entropy takes raw scores of classes; two mistakes are common enough to be explained in words.
void check_loss(const Graph& graph, const std::string& origin) {
  if (graph.loss() != "softmax_cross_entropy") return;
  const Node& output = graph.node(graph.output());
  with_context(origin, [&] {
    if (output.shape.rank() != 1)
      throw Error{invalid_argument,
                  "the loss softmax_cross_entropy needs a vector of classes, the output, {}, is {}; end the model with a dense layer",
                  label(output), output.shape.to_string()};
    if (output.op->name == "softmax")
      throw Error{invalid_argument, "{}: the loss softmax_cross_entropy applies softmax itself; leave the last layer out", label(output)};
  });
}

}  // namespace

void check_layers(const Config& model) {
  std::size_t number = 0;
  for (const Config& layer : model.at("layers").list()) {
    const std::string place = fmt::format("layer {}", ++number);
    const OpEntry& op = op_of(layer, place);
    read_entry_options(op.options, layer, fmt::format("{} ({})", place, op.name), kLayerKeys);
  }
}

Graph graph_from_config(const Config& model) {
  const bool named = model.find("name") != nullptr;
  const bool layered = model.find("layers") != nullptr;
  if (named && layered)
    throw Error{invalid_argument, "{}: [model] has both name and layers; give the name of a known model or layers of your own",
                model.at("layers").origin()};
  if (!named && !layered)
    throw Error{invalid_argument, "{}: [model] needs name = \"...\" (see 'trireme list models') or [[model.layers]]", model.origin()};
  Graph graph = named ? from_zoo(model) : from_layers(model);
  if (const Config* loss = model.find("loss")) graph.set_loss(loss->text());
  check_loss(graph, model.origin());
  return graph;
}

}  // namespace trireme::graph
