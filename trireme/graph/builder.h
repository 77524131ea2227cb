// SPDX-License-Identifier: Apache-2.0
// Writes a graph in C++: each call appends a layer and returns its value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
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

  const Shape& shape(Value value) const { return graph_.node(value.node).shape; }
  Graph finish(Value output, std::string loss = "softmax_cross_entropy");

 private:
  Graph graph_;
  std::map<std::string, int, std::less<>> counts_;  // for automatic names
};

}  // namespace trireme::graph
