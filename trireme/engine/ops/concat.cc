// SPDX-License-Identifier: Apache-2.0
// concat: a list of pieces where all readers can take one (no copy), else a copy with each piece's channels padded as they were.
#include <algorithm>

#include "trireme/engine/kernels/layout_copies.h"
#include "trireme/engine/lowering.h"

namespace trireme::engine::ops {
namespace {

class Concat final : public Lowered {
 public:
  Concat(const Group& group, const graph::Node& node) : group_(group), node_(node) {}

  void forward(Lowering& lowering) override {
    for (const graph::NodeId input : node_.inputs) add_pieces(lowering, input);
    if (can_stay_in_pieces(lowering)) return lowering.set_value(group_.last, pieces_);
    std::vector<std::int64_t> segments;
    for (const TensorId piece : pieces_) {
      lowering.complete(piece);
      segments.insert(segments.end(), lowering.tensor(piece).segments.begin(), lowering.tensor(piece).segments.end());
    }
    const Layout layout = lowering.tensor(pieces_.front()).layout;
    y_ = lowering.new_tensor(node_.name, node_.shape, layout, layout == Layout::blocked ? segments : std::vector<std::int64_t>{});
    std::int64_t at = 0;
    for (const TensorId piece : pieces_) {
      const std::int64_t count = lowering.sample_floats(piece);
      emit_copy(lowering, {lowering.batch(), count, count, lowering.sample_floats(*y_)}, {lowering.tensor(piece).buffer, 0},
                {lowering.tensor(*y_).buffer, at});
      at += count;
    }
    lowering.set_value(group_.last, {*y_});
  }

  void backward(Lowering& lowering) override {
    if (!y_) return;  // the pieces' readers give them their gradients
    const auto gradient = lowering.gradient(*y_);
    if (!gradient) return;
    std::int64_t at = 0;
    for (const TensorId piece : pieces_) {
      const std::int64_t count = lowering.sample_floats(piece);
      if (lowering.needs_gradient(piece)) {
        const BufferId into = lowering.new_like(piece);
        emit_copy(lowering, {lowering.batch(), count, lowering.sample_floats(*y_), count}, {*gradient, at}, {into, 0});
        lowering.gradients().add_term(piece, into);
      }
      at += count;
    }
  }

 private:
  struct Place {
    BufferId buffer;
    std::int64_t offset;
  };

  // Vectors lie plain one after another; everything else is blocked.
  void add_pieces(Lowering& lowering, graph::NodeId input) {
    if (lowering.pieces(input).size() > 1) {
      pieces_.insert(pieces_.end(), lowering.pieces(input).begin(), lowering.pieces(input).end());
    } else {
      const TensorId piece = lowering.value(input);
      const bool postponed = lowering.tensor(piece).layout == Layout::blocked && node_.shape.rank() > 1;  // may keep what is pending
      pieces_.push_back(node_.shape.rank() == 1 ? lowering.plain(input) : postponed ? piece : lowering.blocked(input));
    }
  }

  bool can_stay_in_pieces(const Lowering& lowering) const {
    if (node_.shape.rank() == 1 || group_.last == lowering.graph().output()) return false;
    const auto& readers = lowering.consumers(group_.last);
    return std::all_of(readers.begin(), readers.end(),
                       [&](graph::NodeId reader) { return find_op(lowering.node(reader).op->name).takes_pieces; });
  }

  void emit_copy(Lowering& lowering, const RowCopy& copy, Place from, Place to) {
    lowering.emit({.name = node_.name, .category = "concat", .uses = {from.buffer, to.buffer}, .bind = [=](const Addresses& at) -> Run {
                     return [=, source = at.floats(from.buffer) + from.offset, target = at.floats(to.buffer) + to.offset](const Call&) {
                       copy_rows(copy, source, target);
                     };
                   }});
  }

  Group group_;
  const graph::Node& node_;
  std::vector<TensorId> pieces_;
  std::optional<TensorId> y_;
};

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return std::make_unique<Concat>(group, lowering.node(group.leader));
}

}  // namespace

OpEntry concat() { return {.name = "concat", .takes_pieces = true, .backward_reads_input = true, .lower = lower}; }

}  // namespace trireme::engine::ops
