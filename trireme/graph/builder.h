// SPDX-License-Identifier: Apache-2.0
// Writes a graph in C++: each call appends a layer and returns its value.
#pragma once

#include <any>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/graph/graph.h"
#include "trireme/graph/op_options.h"

namespace trireme::graph {

struct Value {
  NodeId node = 0;
};

class Builder {
 public:
  Value input(const Shape& shape, std::string name = "");
  Value conv2d(Value x, ConvOptions options, std::string name = "");
  Value conv1d(Value x, ConvOptions options, std::string name = "");
  Value dense(Value x, DenseOptions options, std::string name = "");
  Value batch_norm(Value x, BatchNormOptions options = {}, std::string name = "");
  Value relu(Value x, std::string name = "");
  Value sigmoid(Value x, std::string name = "");
  Value tanh(Value x, std::string name = "");
  Value softmax(Value x, std::string name = "");
  Value max_pool(Value x, PoolOptions options, std::string name = "");
  Value average_pool(Value x, PoolOptions options, std::string name = "");
  Value global_average_pool(Value x, std::string name = "");
  Value dropout(Value x, DropoutOptions options, std::string name = "");
  Value add(Value a, Value b, std::string name = "");
  Value concat(const std::vector<Value>& values, std::string name = "");
  Value flatten(Value x, std::string name = "");

  // Any op of the catalogue; an empty name becomes "<op>_<n>".
  Value apply(std::string_view op, std::any options, const std::vector<Value>& inputs, std::string name = "");

  // Automatic names from here on begin with "<scope>/"; empty: with nothing.
  void scope(std::string name) { scope_ = std::move(name); }
  // The name that the next unnamed layer of this op would get.
  std::string free_name(std::string_view op) const;

  const Shape& shape(Value value) const { return graph_.node(value.node).shape; }
  Graph finish(Value output, std::string loss = "softmax_cross_entropy");

 private:
  Graph graph_;
  std::string scope_;
};

}  // namespace trireme::graph
