// SPDX-License-Identifier: Apache-2.0
// What conv1d and conv2d share: a convolution over two axes, of which the first may have extent 1.
#pragma once

#include <vector>

#include "trireme/base/error.h"
#include "trireme/graph/op_entry.h"
#include "trireme/graph/op_options.h"
#include "trireme/graph/window.h"

namespace trireme::graph {

struct Axes {
  std::int64_t channels = 0;
  Window rows;
  Window columns;
  std::int64_t height = 1;
  std::int64_t width = 1;
};

std::vector<ParameterSpec> convolution_parameters(const ConvOptions& o, const Axes& axes, const Shape& kernel);
Cost convolution_cost(const ConvOptions& o, const Axes& axes);
void convolution_reference(const ConvOptions& o, const Axes& axes, const ReferenceCall& call);

}  // namespace trireme::graph
