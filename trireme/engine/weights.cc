// SPDX-License-Identifier: Apache-2.0
// Kernels between the canonical space and blocked layouts, with and without holes.
#include "trireme/engine/weights.h"

#include <algorithm>
#include <numeric>

namespace trireme::engine {
namespace {

// out x (segments) x window between an array without holes and one with them.
struct HoleCopy {
  std::int64_t out = 0;
  std::int64_t window = 0;
  std::vector<std::int64_t> segments;
  std::vector<std::int64_t> padded;
};

HoleCopy hole_copy(const KernelShape& shape) {
  const auto& dims = shape.canonical;
  const std::int64_t window = std::accumulate(dims.begin() + 2, dims.end(), std::int64_t{1}, std::multiplies<>());
  return {.out = dims[0], .window = window, .segments = shape.segments, .padded = shape.padded};
}

// Calls body(place without holes, place with holes, floats) for each output and segment.
template <class Body>
void for_each_segment(const HoleCopy& copy, const Body& body) {
  std::int64_t dense = 0;
  std::int64_t holed = 0;
  for (std::int64_t o = 0; o < copy.out; ++o) {
    for (std::size_t s = 0; s < copy.segments.size(); ++s) {
      body(dense, holed, copy.segments[s] * copy.window);
      dense += copy.segments[s] * copy.window;
      holed += copy.padded[s] * copy.window;
    }
  }
}

dnnl::memory::desc canonical_layout(const KernelShape& shape) { return plain_layout(shape.seen()); }

std::int64_t count(const dnnl::memory::dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

Step reorder_step(Lowering& lowering, std::size_t slice, const Argument& from, const Argument& to) {
  const auto& engine = lowering.device().engine();
  const dnnl::reorder::primitive_desc reorder(engine, from.layout, engine, to.layout, user_scratchpad());
  const BufferId scratch = lowering.scratch(reorder.scratchpad_desc().get_size());
  return lowering.primitive_step(lowering.graph().parameters()[slice].name, "weights", dnnl::reorder(reorder),
                                 {{DNNL_ARG_FROM, from.layout, from.where},
                                  {DNNL_ARG_TO, to.layout, to.where},
                                  {DNNL_ARG_SCRATCHPAD, reorder.scratchpad_desc(), scratch}});
}

// Steps by part must not be torn apart by a whole one, so there kernels are brought in before all that run together.
void emit_before_use(Lowering& lowering, Step step) {
  lowering.by_part() ? lowering.emit_early(std::move(step)) : lowering.emit(std::move(step));
}

BufferId emit_holes_in(Lowering& lowering, std::size_t slice, const KernelShape& shape) {
  const std::int64_t size = count(shape.seen());
  const BufferId expanded = lowering.new_floats(size);
  const std::int64_t offset = lowering.graph().parameters()[slice].offset;
  emit_before_use(lowering, {.name = lowering.graph().parameters()[slice].name,
                             .category = "weights",
                             .uses = {expanded},
                             .bind = [=, copy = hole_copy(shape)](const Addresses& at) -> Run {
                               return [=, to = at.floats(expanded)](const Call& call) {
                                 std::fill_n(to, size, 0.0F);
                                 const float* from = call.model.parameters.data() + offset;
                                 for_each_segment(copy, [&](std::int64_t dense, std::int64_t holed, std::int64_t n) {
                                   std::copy_n(from + dense, n, to + holed);
                                 });
                               };
                             },
                             .reads = {slice}});
  return expanded;
}

void emit_holes_out(Lowering& lowering, std::size_t slice, const KernelShape& shape, BufferId expanded, std::vector<std::size_t> ready) {
  const std::int64_t offset = lowering.graph().parameters()[slice].offset;
  lowering.emit({.name = lowering.graph().parameters()[slice].name,
                 .category = "weights",
                 .uses = {expanded},
                 .bind = [=, copy = hole_copy(shape)](const Addresses& at) -> Run {
                   return [=, from = at.floats(expanded)](const Call& call) {
                     float* to = call.model.gradients.data() + offset;
                     for_each_segment(
                         copy, [&](std::int64_t dense, std::int64_t holed, std::int64_t n) { std::copy_n(from + holed, n, to + dense); });
                   };
                 },
                 .ready = std::move(ready)});
}

}  // namespace

dnnl::memory::dims KernelShape::seen() const {
  dnnl::memory::dims dims = canonical;
  if (has_holes()) dims[1] = std::accumulate(padded.begin(), padded.end(), std::int64_t{0});
  return dims;
}

KernelShape kernel_shape(const Lowering& lowering, const dnnl::memory::dims& canonical, TensorId input) {
  const auto& segments = lowering.tensor(input).segments;
  KernelShape shape{.canonical = canonical, .segments = segments, .padded = segments};
  if (segments.size() == 1) return shape;  // oneDNN pads a single run by itself
  for (std::int64_t& segment : shape.padded) segment = lowering.padded(segment);
  return shape;
}

Argument kernel_argument(Lowering& lowering, std::size_t slice, const KernelShape& shape, const dnnl::memory::desc& layout) {
  Argument source{.kind = DNNL_ARG_WEIGHTS,
                  .layout = canonical_layout(shape),
                  .where = ModelMemory{ModelMemory::Space::parameters, lowering.graph().parameters()[slice].offset}};
  if (shape.has_holes()) source.where = emit_holes_in(lowering, slice, shape);
  if (layout == source.layout) return source;
  const Argument target{.kind = DNNL_ARG_WEIGHTS, .layout = layout, .where = lowering.new_buffer(layout.get_size())};
  emit_before_use(lowering, reorder_step(lowering, slice, source, target));
  return target;
}

KernelGradient kernel_gradient(Lowering& lowering, std::size_t slice, const KernelShape& shape, const dnnl::memory::desc& layout) {
  const bool in_place = !shape.has_holes() && layout == canonical_layout(shape);
  if (in_place)
    return {{DNNL_ARG_DIFF_WEIGHTS, layout, ModelMemory{ModelMemory::Space::gradients, lowering.graph().parameters()[slice].offset}}, true};
  return {{DNNL_ARG_DIFF_WEIGHTS, layout, lowering.new_buffer(layout.get_size())}, false};
}

void emit_kernel_gradient(Lowering& lowering, std::size_t slice, const KernelShape& shape, const Argument& gradient,
                          const std::vector<std::size_t>& ready) {
  const auto canonical = canonical_layout(shape);
  if (!shape.has_holes()) {
    const Argument target{.layout = canonical,
                          .where = ModelMemory{ModelMemory::Space::gradients, lowering.graph().parameters()[slice].offset}};
    Step step = reorder_step(lowering, slice, gradient, target);
    step.ready = ready;
    return lowering.emit(std::move(step));
  }
  Argument expanded = gradient;
  if (gradient.layout != canonical) {
    expanded = {.layout = canonical, .where = lowering.new_floats(count(shape.seen()))};
    lowering.emit(reorder_step(lowering, slice, gradient, expanded));
  }
  emit_holes_out(lowering, slice, shape, std::get<BufferId>(expanded.where), ready);
}

}  // namespace trireme::engine
