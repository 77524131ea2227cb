// SPDX-License-Identifier: Apache-2.0
// The workbench of lowering: values, layouts and gradients.
#include "trireme/engine/lowering.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "trireme/base/parallel.h"
#include "trireme/base/random.h"
#include "trireme/engine/fusion.h"
#include "trireme/engine/kernels/cpu.h"
#include "trireme/engine/kernels/layout_copies.h"
#include "trireme/engine/parts.h"
#include "trireme/graph/reference.h"

namespace trireme::engine {
namespace {

Kernels kernels_of_this_cpu() {
  switch (kernel_set()) {
    case KernelSet::avx512:
      return {avx512::blocked_kernels(), avx512::flat_kernels()};
    case KernelSet::avx2:
      return {avx2::blocked_kernels(), avx2::flat_kernels()};
    case KernelSet::generic:
      break;
  }
  return {generic::blocked_kernels(), generic::flat_kernels()};
}

float* address_in(const ModelView& model, const ModelMemory& memory) {
  // oneDNN has no const memory; parameters are only read.
  float* base = memory.space == ModelMemory::Space::gradients
                    ? model.gradients.data()
                    : const_cast<float*>(model.parameters.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return base + memory.offset;
}

std::size_t slice_at(const ParameterSpace& space, std::int64_t offset) {
  const auto& slices = space.slices();
  const auto found = std::ranges::find(slices, offset, &Slice::offset);
  ensure(found != slices.end(), "a slice begins where a primitive reads parameters");
  return static_cast<std::size_t>(found - slices.begin());
}

}  // namespace

DropoutMask mask_of(const std::optional<DropoutSpec>& spec, const Addresses& at, const Part& part) {
  if (!spec) return {};
  return {.keys = at.words(spec->keys) + part.first, .threshold = spec->threshold, .scale = spec->scale};
}

Run bind_primitive(const Device& device, const dnnl::primitive& primitive, const std::vector<Argument>& arguments, const Addresses& at,
                   const Part& part) {
  std::vector<BoundPrimitive::Argument> bound;
  std::vector<std::pair<int, ModelMemory>> of_model;
  for (const Argument& argument : arguments) {
    if (argument.layout.get_size() == 0) continue;
    const auto* buffer = std::get_if<BufferId>(&argument.where);
    bound.push_back({argument.kind, argument.layout, buffer != nullptr ? at.bytes(*buffer, part) : nullptr});
    if (buffer == nullptr) of_model.emplace_back(argument.kind, std::get<ModelMemory>(argument.where));
  }
  return [step = BoundPrimitive(device, primitive, bound), of_model](const Call& call) mutable {
    for (const auto& [kind, memory] : of_model) step.set_data(kind, address_in(call.model, memory));
    step.run();
  };
}

Lowering::Lowering(const graph::Graph& graph, const ExecutorOptions& options, const Device& device, AlgorithmChooser& chooser)
    : graph_(graph),
      consumers_(consumers_of(graph)),
      mode_(options.mode),
      threads_(options.threads),
      device_(device),
      chooser_(chooser),
      kernels_(kernels_of_this_cpu()),
      by_part_(gains_from_parts(graph)),
      values_(graph.nodes().size()) {
  program_.parts = cut_into_parts(graph, options.batch_size, threads_, kernels_.blocked.block);
  program_.lanes = lanes_ = program_.parts.back().lane + 1;
  part_size_ = program_.parts.front().count;
  batch_ = part_size_ * static_cast<std::int64_t>(program_.parts.size());
}

BufferId Lowering::new_buffer(std::size_t bytes, Buffer::Kind kind) {
  program_.buffers.push_back({kind, bytes});
  return program_.buffers.size() - 1;
}

BufferId Lowering::new_like(TensorId id) {
  return new_buffer(static_cast<std::size_t>(sample_floats(id)) * sizeof(float), Buffer::Kind::batch);
}

BufferId Lowering::scratch(std::size_t bytes) {
  if (!scratch_) scratch_ = new_buffer(0, Buffer::Kind::lane);
  auto& size = program_.buffers[*scratch_].bytes;
  size = std::max(size, bytes);
  return *scratch_;
}

Step Lowering::primitive_step(std::string name, std::string category, const dnnl::primitive& primitive,
                              const std::vector<Argument>& arguments) const {
  std::vector<BufferId> uses;
  std::vector<std::size_t> reads;
  for (const Argument& argument : arguments) {
    if (argument.layout.get_size() == 0) continue;
    if (const auto* buffer = std::get_if<BufferId>(&argument.where)) {
      uses.push_back(*buffer);
    } else if (const auto& memory = std::get<ModelMemory>(argument.where); memory.space == ModelMemory::Space::parameters) {
      reads.push_back(slice_at(graph_.parameters(), memory.offset));
    }
  }
  return {.name = std::move(name),
          .category = std::move(category),
          .uses = std::move(uses),
          .bind = [&device = device_, primitive,
                   arguments](const Addresses& at) { return bind_primitive(device, primitive, arguments, at, Part{}); },
          .reads = std::move(reads)};
}

void Lowering::emit_primitive_by_part(std::string name, std::string category, const dnnl::primitive& primitive,
                                      std::vector<Argument> arguments) {
  Step step = primitive_step(std::move(name), std::move(category), primitive, arguments);
  step.bind = nullptr;
  step.bind_part = [&device = device_, primitive, arguments = std::move(arguments)](const Addresses& at, const Part& part) {
    return bind_primitive(device, primitive, arguments, at, part);
  };
  emit(std::move(step));
}

TensorId Lowering::new_tensor(std::string name, const Shape& shape, Layout layout, std::vector<std::int64_t> segments) {
  if (segments.empty()) segments = {shape[0]};
  tensors_.push_back({.name = std::move(name), .shape = shape, .segments = std::move(segments), .layout = layout, .group = group_});
  const TensorId id = tensors_.size() - 1;
  tensors_[id].buffer = new_like(id);
  return id;
}

TensorId Lowering::new_view(TensorId of, std::string name, const Shape& shape) {
  Tensor view{.name = std::move(name),
              .shape = shape,
              .segments = {shape[0]},
              .layout = Layout::plain,
              .group = group_,
              .buffer = tensors_[of].buffer};
  view.needs_gradient = tensors_[of].needs_gradient;
  view.overwritable = false;  // others may read the same buffer
  tensors_.push_back(std::move(view));
  return tensors_.size() - 1;
}

std::int64_t Lowering::padded(std::int64_t channels) const {
  return (channels + kernels_.blocked.block - 1) / kernels_.blocked.block * kernels_.blocked.block;
}

std::int64_t Lowering::padded_channels(TensorId id) const {
  const auto& segments = tensors_[id].segments;
  return std::accumulate(segments.begin(), segments.end(), std::int64_t{0},
                         [&](std::int64_t sum, std::int64_t channels) { return sum + padded(channels); });
}

std::int64_t Lowering::sample_floats(TensorId id) const {
  const Tensor& t = tensors_[id];
  return t.layout == Layout::plain ? t.shape.count() : padded_channels(id) * t.pixels();
}

std::vector<std::int64_t> Lowering::lanes_of(const std::vector<std::int64_t>& segments) const {
  std::vector<std::int64_t> lanes;
  std::int64_t start = 0;
  for (const std::int64_t segment : segments) {
    for (std::int64_t c = 0; c < segment; ++c) lanes.push_back(start + c);
    start += padded(segment);
  }
  return lanes;
}

BlockedExtent Lowering::extent(TensorId id) const {
  return {.batch = batch_, .samples = batch_, .blocks = padded_channels(id) / kernels_.blocked.block, .pixels = tensors_[id].pixels()};
}

BlockedExtent Lowering::part_extent(TensorId id) const {
  BlockedExtent part = extent(id);
  part.batch = part.samples = part_size();
  return part;
}

dnnl::memory::desc Lowering::layout(TensorId id, std::int64_t samples) const {
  const Tensor& t = tensors_[id];
  if (t.layout == Layout::plain) {
    if (t.shape.rank() == 1) return plain_layout({samples, t.channels()});
    return plain_layout({samples, t.channels(), t.height(), t.width()});
  }
  // Holes between segments are channels like any other to oneDNN; their weights are zero.
  return blocked_layout({samples, t.segments.size() == 1 ? t.channels() : padded_channels(id), t.height(), t.width()});
}

TensorId Lowering::value(graph::NodeId node) const {
  ensure(values_[node].size() == 1, "the value is one tensor");
  return values_[node].front();
}

TensorId Lowering::convert(TensorId id, Layout layout, const std::vector<std::int64_t>& segments) {
  complete(id);
  const auto fits = [&](TensorId candidate) {
    return tensors_[candidate].layout == layout && (segments.empty() || tensors_[candidate].segments == segments);
  };
  if (fits(id)) return id;
  for (const TensorId copy : converted_[id]) {
    if (fits(copy)) return copy;
  }
  // Between two blocked layouts the way leads over the plain one.
  if (layout == Layout::blocked && tensors_[id].layout == Layout::blocked) return convert(convert(id, Layout::plain, {}), layout, segments);
  const Tensor source = tensors_[id];
  const TensorId copy = new_tensor(source.name, source.shape, layout, layout == Layout::blocked ? segments : std::vector<std::int64_t>{});
  tensors_[copy].needs_gradient = source.needs_gradient;
  tensors_[copy].group.reset();
  emit_conversion(source.name + " reorder", id, source.buffer, copy, tensors_[copy].buffer);
  converted_[id].push_back(copy);
  return copy;
}

void Lowering::emit_conversion(const std::string& name, TensorId from, BufferId from_buffer, TensorId to, BufferId to_buffer) {
  if (tensors_[from].segments.size() > 1 || tensors_[to].segments.size() > 1)
    return emit_segment_conversion(name, from, from_buffer, to, to_buffer);
  // A vector converted to blocks is an image of one pixel.
  const auto four = [&](TensorId id) {
    const Tensor& t = tensors_[id];
    const dnnl::memory::dims dims{batch_, t.channels(), t.height(), t.width()};
    return t.layout == Layout::plain ? plain_layout(dims) : blocked_layout(dims);
  };
  const auto source = four(from);
  const auto target = four(to);
  const dnnl::reorder::primitive_desc reorder(device_.engine(), source, device_.engine(), target, user_scratchpad());
  emit_primitive(name, "reorder", dnnl::reorder(reorder),
                 {{DNNL_ARG_FROM, source, from_buffer},
                  {DNNL_ARG_TO, target, to_buffer},
                  {DNNL_ARG_SCRATCHPAD, reorder.scratchpad_desc(), scratch(reorder.scratchpad_desc().get_size())}});
}

void Lowering::emit_segment_conversion(const std::string& name, TensorId from, BufferId from_buffer, TensorId to, BufferId to_buffer) {
  const bool to_plain = tensors_[to].layout == Layout::plain;
  const SegmentCopy copy{.batch = batch_,
                         .pixels = tensors_[to].pixels(),
                         .block = kernels_.blocked.block,
                         .segments = tensors_[to_plain ? from : to].segments};
  emit({.name = name, .category = "reorder", .uses = {from_buffer, to_buffer}, .bind = [=](const Addresses& at) -> Run {
          const float* source = at.floats(from_buffer);
          float* target = at.floats(to_buffer);
          return [=](const Call&) { to_plain ? copy_to_plain(copy, source, target) : copy_to_blocked(copy, source, target); };
        }});
}

void Lowering::complete(TensorId id) {
  const Pending pending = std::exchange(tensors_[id].pending, {});
  const BufferId buffer = tensors_[id].buffer;
  if (pending.sum)
    emit_sum(tensors_[id].name, floats(id), {tensors_[pending.sum->first].buffer, tensors_[pending.sum->second].buffer}, buffer);
  if (!pending.dropout) return;
  emit_dropout(tensors_[id].name + " dropout", id, *pending.dropout, buffer);
}

void Lowering::emit_dropout(const std::string& name, TensorId like, const DropoutSpec& spec, BufferId buffer) {
  Step step{.name = name, .category = "dropout", .uses = {buffer, spec.keys}};
  const std::int64_t stride = sample_floats(like);
  if (tensors_[like].layout == Layout::plain) {
    step.bind = [=, kernel = kernels_.flat.dropout](const Addresses& at) -> Run {
      return [=, data = at.floats(buffer), mask = mask_of(spec, at, Part{})](const Call& call) {
        kernel(mask, call.batch->size, stride, data);
      };
    };
  } else {
    step.bind_part = [=, whole = part_extent(like), kernel = kernels_.blocked.dropout](const Addresses& at, const Part& part) -> Run {
      DropoutArgs args{.extent = whole, .x = {at.floats(buffer, part), stride}, .mask = mask_of(spec, at, part)};
      return [=](const Call& call) mutable {
        args.extent.samples = part.samples(call);
        kernel(args);
      };
    };
  }
  emit(std::move(step));
}

Moments Lowering::moments(TensorId id) {
  if (tensors_[id].moments) return *tensors_[id].moments;
  const Pending pending = std::exchange(tensors_[id].pending, {});
  const Tensor& t = tensors_[id];
  const BlockedExtent whole = extent(id);
  const Moments result{.mean = new_floats(padded_channels(id)), .variance = new_floats(padded_channels(id))};
  const BufferId partials = new_buffer(static_cast<std::size_t>(padded_channels(id)) * 2 * sizeof(float), Buffer::Kind::batch);
  const BufferId source = pending.sum ? tensors_[pending.sum->first].buffer : t.buffer;
  const std::optional<BufferId> addend = pending.sum ? std::optional(tensors_[pending.sum->second].buffer) : std::nullopt;
  std::vector<BufferId> uses{source, t.buffer, partials};
  if (addend) uses.push_back(*addend);
  if (pending.dropout) uses.push_back(pending.dropout->keys);
  emit({.name = t.name + " moments",
        .category = "batch norm",
        .uses = uses,
        .bind_part = [=, extent = part_extent(id), stride = sample_floats(id), buffer = t.buffer, kernel = kernels_.blocked.moments](
                         const Addresses& at, const Part& part) -> Run {
          MomentsArgs args{.extent = extent,
                           .source = {at.floats(source, part), stride},
                           .dropout = mask_of(pending.dropout, at, part),
                           .partials = at.floats(partials, part)};
          if (addend) args.addend = {at.floats(*addend, part), stride};
          if (addend || pending.dropout) args.destination = {at.floats(buffer, part), stride};
          return [=](const Call& call) mutable {
            args.extent.samples = part.samples(call);
            kernel(args);
          };
        }});
  emit_combine(t.name + " combine", whole, partials, {result.mean, result.variance}, kernels_.blocked.combine_moments);
  emit_exchange(id, result);
  tensors_[id].moments = result;
  return result;
}

// From this worker's moments to those of all workers' samples. Only channels travel: padding differs between CPUs.
void Lowering::emit_exchange(TensorId id, const Moments& moments) {
  emit({.name = tensors_[id].name + " exchange",
        .category = "batch norm",
        .uses = {moments.mean, moments.variance},
        .bind = [=, lanes = lanes_of(tensors_[id].segments)](const Addresses& at) -> Run {
          return [=, mean = at.floats(moments.mean), variance = at.floats(moments.variance),
                  sums = std::vector<double>()](const Call& call) mutable {
            if (call.exchange == nullptr) return;
            sums.clear();
            for (const std::int64_t l : lanes) {
              const auto m = static_cast<double>(mean[l]);
              sums.push_back(call.share() * m);
              sums.push_back(call.share() * (static_cast<double>(variance[l]) + m * m));
            }
            call.exchange->sum(sums);
            for (std::size_t c = 0; c < lanes.size(); ++c) {
              const double m = sums[2 * c];
              mean[lanes[c]] = static_cast<float>(m);
              variance[lanes[c]] = static_cast<float>(std::max(0.0, sums[2 * c + 1] - m * m));
            }
          };
        }});
}

void Lowering::emit_combine(std::string name, const BlockedExtent& whole, BufferId partials, std::pair<BufferId, BufferId> into,
                            void (*kernel)(const CombineArgs&)) {
  emit({.name = std::move(name),
        .category = "batch norm",
        .uses = {partials, into.first, into.second},
        .bind = [=](const Addresses& at) -> Run {
          CombineArgs args{
              .extent = whole, .partials = at.floats(partials), .first = at.floats(into.first), .second = at.floats(into.second)};
          return [=](const Call& call) mutable {
            args.extent.samples = call.batch->size;
            kernel(args);
          };
        }});
}

BufferId Lowering::dropout_keys(const std::string& layer) {
  if (const auto found = dropout_keys_.find(layer); found != dropout_keys_.end()) return found->second;
  const BufferId keys = new_buffer(static_cast<std::size_t>(batch_) * sizeof(std::uint32_t));
  emit_early({.name = layer + " keys", .category = "dropout", .uses = {keys}, .bind = [=, batch = batch_](const Addresses& at) -> Run {
                std::uint32_t* words = at.words(keys);
                return [=](const Call& call) {
                  const auto& sample_keys = call.batch->sample_keys;
                  for (std::int64_t n = 0; n < batch; ++n)
                    words[n] = n < call.batch->size ? graph::layer_key(sample_keys[static_cast<std::size_t>(n)], layer) : 0;
                };
              }});
  return dropout_keys_[layer] = keys;
}

void Lowering::emit_sum(std::string name, std::int64_t count, const std::vector<BufferId>& terms, BufferId into) {
  std::vector<BufferId> uses = terms;
  uses.push_back(into);
  emit({.name = std::move(name) + " sum",
        .category = "sum",
        .uses = uses,
        .bind = [=, kernel = kernels_.flat.sum](const Addresses& at) -> Run {
          std::vector<const float*> sources;
          for (const BufferId term : terms) sources.push_back(at.floats(term));
          return [=, target = at.floats(into)](const Call&) { kernel(sources.data(), static_cast<int>(sources.size()), count, target); };
        }});
}

}  // namespace trireme::engine
