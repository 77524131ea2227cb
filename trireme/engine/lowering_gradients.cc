// SPDX-License-Identifier: Apache-2.0
// The workbench of lowering: how the gradients that readers owe a tensor come together.
#include <utility>

#include "trireme/engine/lowering.h"

namespace trireme::engine {

void Lowering::collect_gradient(TensorId id) {
  if (!needs_gradient(id)) return;
  for (const TensorId copy : converted_[id]) {
    collect_gradient(copy);
    const auto of_copy = gradient(copy);
    if (!of_copy) continue;
    const BufferId back = new_like(id);
    emit_conversion(tensors_[id].name + " reorder back", copy, *of_copy, id, back);
    gradients_.close(copy);
    gradients_.add_term(id, back);
  }
  emit_norm_gradients(id);
}

void Lowering::add_norm_gradient(TensorId id, const NormGradient& gradient) {
  gradients_.hold(gradient.g);
  tensors_[id].norm_gradients.push_back(gradient);
}

void Lowering::emit_norm_gradients(TensorId id) {
  Tensor& t = tensors_[id];
  const std::vector<NormGradient> owed = std::exchange(t.norm_gradients, {});
  if (owed.empty()) return;
  // Into a term that is there already, over the reader's own gradient, or into fresh memory.
  const auto term = gradients_.overwritable_term(id);
  const bool over_g = !term && owed.size() == 1 && owed.front().g_stride == sample_floats(id) && gradients_.only_held_once(owed.front().g);
  const BufferId into = term ? *term : over_g ? owed.front().g : new_like(id);
  const bool whole = gradients_.terms(id).size() == (term ? 1 : 0);  // nothing else will be added
  const std::optional<DropoutSpec> dropout = whole ? std::exchange(t.dropout, std::nullopt) : std::nullopt;
  std::vector<BufferId> uses{t.buffer, into};
  for (const NormGradient& gradient : owed)
    uses.insert(uses.end(), {gradient.g, gradient.scale, gradient.shift, gradient.on_x, gradient.constant});
  if (dropout) uses.push_back(dropout->keys);
  emit({.name = t.name + " gradient",
        .category = "batch norm",
        .uses = uses,
        .bind_part = [=, extent = part_extent(id), stride = sample_floats(id), x = t.buffer, accumulate = term.has_value(),
                      kernel = kernels_.blocked.norm_backward_apply](const Addresses& at, const Part& part) -> Run {
          std::vector<NormGradientTerm> terms;
          for (const NormGradient& o : owed)
            terms.push_back({.g = {at.floats(o.g, part) + o.g_offset, o.g_stride},
                             .mask_from_x = o.mask_from_x,
                             .scale = at.floats(o.scale) + o.first_lane,
                             .shift = at.floats(o.shift) + o.first_lane,
                             .on_x = at.floats(o.on_x) + o.first_lane,
                             .constant = at.floats(o.constant) + o.first_lane});
          NormBackwardApplyArgs args{.extent = extent,
                                     .x = {at.floats(x, part), stride},
                                     .dx = {at.floats(into, part), stride},
                                     .accumulate = accumulate,
                                     .dropout = mask_of(dropout, at, part)};
          return [=](const Call& call) mutable {
            args.terms = terms.data();
            args.count = static_cast<int>(terms.size());
            args.extent.samples = part.samples(call);
            kernel(args);
          };
        }});
  for (const NormGradient& gradient : owed) gradients_.release(gradient.g);
  if (!term) gradients_.add_term(id, into);
}

void Lowering::close_gradients(std::size_t group) {
  for (TensorId id = 0; id < tensors_.size(); ++id) {
    if (tensors_[id].group == group) gradients_.close(id);
  }
}

std::optional<BufferId> Lowering::gradient(TensorId id) {
  const auto terms = gradients_.terms(id);
  if (terms.empty()) return std::nullopt;
  if (terms.size() == 1) return terms.front();
  const BufferId into = gradients_.overwritable_term(id).value_or(new_like(id));
  emit_sum(tensors_[id].name + " gradient", floats(id), terms, into);
  gradients_.replace_terms(id, into);
  return into;
}

BufferId Lowering::own_gradient(TensorId id) {
  const BufferId whole = *gradient(id);
  if (gradients_.overwritable_term(id)) return whole;
  const BufferId copy = new_like(id);
  emit_sum(tensors_[id].name + " gradient", floats(id), {whole}, copy);
  gradients_.replace_terms(id, copy);
  return copy;
}

BufferId Lowering::relu_gradient(TensorId id) {
  const BufferId from = *gradient(id);
  if (tensors_[id].gradient_masked) return from;
  const BufferId into = gradients_.overwritable_term(id).value_or(new_like(id));
  emit({.name = tensors_[id].name + " relu backward",
        .category = "elementwise",
        .uses = {tensors_[id].buffer, from, into},
        .bind = [=, kernel = kernels_.flat.relu_backward, y = tensors_[id].buffer, count = floats(id)](const Addresses& at) -> Run {
          return [=, y = at.floats(y), from = at.floats(from), into = at.floats(into)](const Call&) { kernel(y, from, count, into); };
        }});
  gradients_.replace_terms(id, into);
  return into;
}

void Lowering::with_activation(TensorId id, BufferId gradient, const UseActivation& use) {
  if (!tensors_[id].recomputed) return use(tensors_[id].buffer);
  gradients_.hold(gradient);
  waiting_[id].push_back([this, gradient, use](BufferId activation) {
    use(activation);
    gradients_.release(gradient);
  });
}

std::vector<Lowering::UseActivation> Lowering::take_waiting(TensorId id) { return std::exchange(waiting_[id], {}); }

}  // namespace trireme::engine
