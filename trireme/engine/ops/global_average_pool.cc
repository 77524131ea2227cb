// SPDX-License-Identifier: Apache-2.0
// global_average_pool: the mean of each channel, as an image of one pixel.
#include "trireme/engine/lowering.h"

namespace trireme::engine::ops {
namespace {

class GlobalAveragePool final : public Lowered {
 public:
  GlobalAveragePool(const Group& group, const graph::Node& node) : group_(group), node_(node) {}

  void forward(Lowering& lowering) override {
    x_ = lowering.blocked(node_.inputs[0]);
    y_ = lowering.new_tensor(node_.name, node_.shape, Layout::blocked, lowering.tensor(x_).segments);
    emit(lowering, " forward", lowering.tensor(x_).buffer, lowering.tensor(y_).buffer, lowering.kernels().global_average);
    lowering.set_value(group_.last, {y_});
  }

  void backward(Lowering& lowering) override {
    if (!lowering.needs_gradient(x_) || !lowering.gradient(y_)) return;
    const BufferId into = lowering.new_like(x_);
    emit(lowering, " backward", into, *lowering.gradient(y_), lowering.kernels().global_average_backward);
    lowering.gradients().add_term(x_, into);
  }

 private:
  void emit(Lowering& lowering, const char* direction, BufferId image, BufferId means, void (*kernel)(const GlobalAverageArgs&)) {
    lowering.emit({.name = node_.name + direction,
                   .category = "pooling",
                   .uses = {image, means},
                   .bind = [=, this, &lowering](const Addresses& at) -> Run {
                     const GlobalAverageArgs args{.extent = lowering.extent(x_),
                                                  .image = {at.floats(image), lowering.sample_floats(x_)},
                                                  .means = {at.floats(means), lowering.sample_floats(y_)}};
                     return [=](const Call&) { kernel(args); };
                   }});
  }

  Group group_;
  const graph::Node& node_;
  TensorId x_ = 0;
  TensorId y_ = 0;
};

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return std::make_unique<GlobalAveragePool>(group, lowering.node(group.leader));
}

}  // namespace

OpEntry global_average_pool() { return {.name = "global_average_pool", .lower = lower}; }

}  // namespace trireme::engine::ops
