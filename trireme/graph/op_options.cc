// SPDX-License-Identifier: Apache-2.0
// The descriptions of the ops' options.
#include "trireme/graph/op_options.h"

namespace trireme::graph {
namespace {

constexpr std::int64_t kMaxExtent = 1 << 20;
constexpr const char* kMomentum =
    "share of the running statistics kept at a step, after 1 / (1 - this) steps; until then they are the mean of all batches";

void describe_padding(Padding& padding, OptionVisitor& visit) {
  visit("padding", padding.mode, "border: valid (none), same (as TensorFlow), or explicit with pad", {"valid", "same", "explicit"});
  visit("pad", padding.amount, "zeros on each side, with padding = \"explicit\"", 0, kMaxExtent);
}

void describe_init(std::string& init, OptionVisitor& visit) {
  visit("init", init, "initial weights", {"glorot_uniform", "he_normal", "zeros"});
}

}  // namespace

void describe(InputOptions& o, OptionVisitor& visit) {
  visit("channels", o.channels, "channels; 0 for a plain vector", 0, kMaxExtent);
  visit("height", o.height, "rows; 0 for a sequence or a vector", 0, kMaxExtent);
  visit("width", o.width, "columns, steps of a sequence, or values of a vector", 1, 1 << 28);
}

void describe(ConvOptions& o, OptionVisitor& visit) {
  visit("filters", o.filters, "output channels", 1, kMaxExtent);
  visit("kernel", o.kernel, "extent of the window", 1, 1024);
  visit("stride", o.stride, "step of the window", 1, 1024);
  describe_padding(o.padding, visit);
  visit("bias", o.bias, "add a bias to each channel");
  visit("l2", o.l2, "adds l2 * sum(kernel^2) to the loss", 0, 1e6);
  describe_init(o.init, visit);
}

void describe(DenseOptions& o, OptionVisitor& visit) {
  visit("units", o.units, "outputs", 1, 1 << 24);
  visit("bias", o.bias, "add a bias to each output");
  visit("l2", o.l2, "adds l2 * sum(kernel^2) to the loss", 0, 1e6);
  describe_init(o.init, visit);
}

void describe(BatchNormOptions& o, OptionVisitor& visit) {
  visit("epsilon", o.epsilon, "added to the variance", 0, 1);
  visit("momentum", o.momentum, kMomentum, 0, 1);
}

void describe_momentum(BatchNormOptions& o, OptionVisitor& visit) { visit("batch_norm_momentum", o.momentum, kMomentum, 0, 1); }

void describe(PoolOptions& o, OptionVisitor& visit) {
  visit("kernel", o.kernel, "extent of the window", 1, 1024);
  visit("stride", o.stride, "step of the window; 0 means the kernel's extent", 0, 1024);
  describe_padding(o.padding, visit);
}

void describe(DropoutOptions& o, OptionVisitor& visit) { visit("rate", o.rate, "share of values set to zero while training", 0, 0.999); }

void describe(NoOptions&, OptionVisitor&) {}

}  // namespace trireme::graph
