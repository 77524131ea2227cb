// SPDX-License-Identifier: Apache-2.0
// batch_norm with a fused residual addition and ReLU; reads concatenations in pieces and computes its output again in backward.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "trireme/engine/lowering.h"
#include "trireme/graph/op_options.h"
#include "trireme/graph/running_statistics.h"

namespace trireme::engine::ops {
namespace {

// dx = scale * (g - mean(g) - (x - mean) * mean(g * (x - mean)) / variance) as a linear function of g and x, for a run of lanes.
struct BackwardCoefficients {
  std::int64_t lanes = 0;
  double epsilon = 0;
  const float *scale = nullptr, *sum_g = nullptr, *sum_gx = nullptr;  // of g * (x - mean)
  const float *mean = nullptr, *variance = nullptr;
  float *on_x = nullptr, *constant = nullptr;

  void compute(double count) const {
    for (std::int64_t l = 0; l < lanes; ++l) {
      const double inverse = 1.0 / (static_cast<double>(variance[l]) + epsilon);
      const auto a = static_cast<double>(scale[l]);
      const double slope = -a * inverse * static_cast<double>(sum_gx[l]) / count;
      on_x[l] = static_cast<float>(slope);
      constant[l] = static_cast<float>(-a * static_cast<double>(sum_g[l]) / count - slope * static_cast<double>(mean[l]));
    }
  }
};

class BatchNorm final : public Lowered {
 public:
  BatchNorm(const Group& group, const graph::Node& node)
      : group_(group), node_(node), options_(node.options_as<graph::BatchNormOptions>()) {}

  void forward(Lowering& lowering) override;
  void backward(Lowering& lowering) override;

 private:
  // A run of channels: a piece of the input and where it lies in the output.
  struct Piece {
    TensorId x = 0;
    std::int64_t first_lane = 0;
    std::optional<Moments> moments;
    BufferId partials = 0;  // of the backward sums
  };

  void find_pieces(Lowering& lowering);
  bool recomputable(const Lowering& lowering) const;
  void emit_coefficients(Lowering& lowering);
  // Where each channel's mean and variance over the batch lie; empty in evaluation, which uses the running ones.
  std::pair<std::vector<const float*>, std::vector<const float*>> statistics_of_channels(const Addresses& at) const;
  void emit_normalize(Lowering& lowering);
  BufferId emit_sums(Lowering& lowering, std::optional<BufferId> recomputed);
  void emit_combine(Lowering& lowering);
  void exchange_sums(const Call& call, float* sum_g, float* sum_gx, std::vector<double>& sums) const;
  void emit_backward_coefficients(Lowering& lowering);
  std::int64_t offset(const Lowering& lowering, std::size_t slice) const {
    return lowering.graph().parameters()[node_.parameters[slice]].offset;
  }
  std::int64_t state_offset(const Lowering& lowering, std::size_t slice) const {
    return lowering.graph().states()[node_.states[slice]].offset;
  }
  MaskSource mask_source() const { return !group_.relu ? MaskSource::none : group_.residual ? MaskSource::from_y : MaskSource::from_x; }

  Group group_;
  const graph::Node& node_;
  graph::BatchNormOptions options_;
  std::vector<Piece> pieces_;
  std::vector<std::int64_t> lanes_;
  std::int64_t pixels_ = 1;
  TensorId residual_ = 0;
  TensorId y_ = 0;
  BufferId scale_ = 0, shift_ = 0;   // forward: y = scale * x + shift
  BufferId sum_g_ = 0, sum_gx_ = 0;  // backward
  BufferId on_x_ = 0, constant_ = 0;
};

void BatchNorm::find_pieces(Lowering& lowering) {
  const graph::NodeId input = node_.inputs[0];
  std::vector<TensorId> tensors = lowering.pieces(input);
  if (tensors.size() == 1 && lowering.tensor(tensors.front()).layout == Layout::plain) tensors = {lowering.blocked(input)};
  std::int64_t lane = 0;
  for (const TensorId x : tensors) {
    pieces_.push_back({.x = x, .first_lane = lane});
    lane += lowering.padded_channels(x);
  }
}

// The output need not be kept if only convolutions read it in backward: they can wait until it is computed again.
bool BatchNorm::recomputable(const Lowering& lowering) const {
  if (!lowering.training() || group_.residual || group_.last == lowering.graph().output()) return false;
  const auto& readers = lowering.consumers(group_.last);
  return std::none_of(readers.begin(), readers.end(),
                      [&](graph::NodeId reader) { return find_op(lowering.node(reader).op->name).backward_reads_input; });
}

void BatchNorm::forward(Lowering& lowering) {
  find_pieces(lowering);
  std::vector<std::int64_t> segments;
  for (Piece& piece : pieces_) {
    if (lowering.training()) piece.moments = lowering.moments(piece.x);
    lowering.complete(piece.x);
    const auto& own = lowering.tensor(piece.x).segments;
    segments.insert(segments.end(), own.begin(), own.end());
  }
  lanes_ = lowering.lanes_of(segments);
  if (group_.residual) residual_ = lowering.blocked(*group_.residual, segments);
  y_ = lowering.new_tensor(node_.name, node_.shape, Layout::blocked, segments);
  lowering.tensor(y_).recomputed = recomputable(lowering);
  lowering.tensor(y_).overwritable = false;
  pixels_ = lowering.tensor(y_).pixels();
  emit_coefficients(lowering);
  emit_normalize(lowering);
  lowering.set_value(group_.last, {y_});
}

void BatchNorm::emit_coefficients(Lowering& lowering) {
  const std::int64_t padded = lowering.padded_channels(y_);
  scale_ = lowering.new_floats(padded);
  shift_ = lowering.new_floats(padded);
  std::vector<BufferId> uses{scale_, shift_};
  for (const Piece& piece : pieces_) {
    if (piece.moments) uses.insert(uses.end(), {piece.moments->mean, piece.moments->variance});
  }
  lowering.emit({.name = node_.name + " coefficients",
                 .category = "batch norm",
                 .uses = uses,
                 .bind = [this, padded, gamma = offset(lowering, 0), beta = offset(lowering, 1), mean_at = state_offset(lowering, 0),
                          variance_at = state_offset(lowering, 1), updates_at = state_offset(lowering, 2)](const Addresses& at) -> Run {
                   const auto statistics = statistics_of_channels(at);
                   return [=, this, means = statistics.first, variances = statistics.second, scale = at.floats(scale_),
                           shift = at.floats(shift_)](const Call& call) {
                     std::fill_n(scale, padded, 0.0F);
                     std::fill_n(shift, padded, 0.0F);
                     const auto count = static_cast<double>(call.samples_of_statistics() * pixels_);
                     const double unbiased = count > 1 ? count / (count - 1) : 1;
                     const float* parameters = call.model.parameters.data();
                     float* states = call.model.states.data();
                     const graph::StatisticsUpdate update = graph::next_update(options_.momentum, states[updates_at]);
                     for (std::size_t c = 0; c < lanes_.size(); ++c) {
                       const auto channel = static_cast<std::int64_t>(c);
                       float& running_mean = states[mean_at + channel];
                       float& running_variance = states[variance_at + channel];
                       const double mean = means.empty() ? static_cast<double>(running_mean) : static_cast<double>(*means[c]);
                       const double variance = means.empty() ? static_cast<double>(running_variance) : static_cast<double>(*variances[c]);
                       const auto a = static_cast<double>(parameters[gamma + channel]) / std::sqrt(variance + options_.epsilon);
                       scale[lanes_[c]] = static_cast<float>(a);
                       shift[lanes_[c]] = static_cast<float>(static_cast<double>(parameters[beta + channel]) - a * mean);
                       if (means.empty()) continue;
                       running_mean = static_cast<float>(update.kept * static_cast<double>(running_mean) + (1 - update.kept) * mean);
                       running_variance = static_cast<float>(update.kept * static_cast<double>(running_variance) +
                                                             (1 - update.kept) * variance * unbiased);
                     }
                     if (!means.empty()) states[updates_at] = update.updates;
                   };
                 },
                 .reads = node_.parameters});
}

std::pair<std::vector<const float*>, std::vector<const float*>> BatchNorm::statistics_of_channels(const Addresses& at) const {
  std::vector<const float*> means, variances;
  for (std::size_t c = 0, p = 0; c < lanes_.size() && pieces_.front().moments; ++c) {
    while (p + 1 < pieces_.size() && lanes_[c] >= pieces_[p + 1].first_lane) ++p;
    means.push_back(at.floats(pieces_[p].moments->mean) + lanes_[c] - pieces_[p].first_lane);
    variances.push_back(at.floats(pieces_[p].moments->variance) + lanes_[c] - pieces_[p].first_lane);
  }
  return {means, variances};
}

void BatchNorm::emit_normalize(Lowering& lowering) {
  std::vector<BufferId> uses{scale_, shift_, lowering.tensor(y_).buffer};
  for (const Piece& piece : pieces_) uses.push_back(lowering.tensor(piece.x).buffer);
  if (group_.residual) uses.push_back(lowering.tensor(residual_).buffer);
  lowering.emit({.name = node_.name + " normalize",
                 .category = "batch norm",
                 .uses = uses,
                 .bind_part = [this, &lowering](const Addresses& at, const Part& part) -> Run {
                   std::vector<NormalizeArgs> calls;
                   const std::int64_t stride = lowering.sample_floats(y_);
                   for (const Piece& piece : pieces_) {
                     const std::int64_t start = piece.first_lane * pixels_;
                     NormalizeArgs args{.extent = lowering.part_extent(piece.x),
                                        .x = {at.floats(lowering.tensor(piece.x).buffer, part), lowering.sample_floats(piece.x)},
                                        .y = {at.floats(lowering.tensor(y_).buffer, part) + start, stride},
                                        .scale = at.floats(scale_) + piece.first_lane,
                                        .shift = at.floats(shift_) + piece.first_lane,
                                        .relu = group_.relu};
                     if (group_.residual) args.residual = {at.floats(lowering.tensor(residual_).buffer, part) + start, stride};
                     calls.push_back(args);
                   }
                   return [calls, kernel = lowering.kernels().normalize](const Call&) {
                     for (const NormalizeArgs& args : calls) kernel(args);
                   };
                 }});
}

void BatchNorm::backward(Lowering& lowering) {
  if (lowering.gradients().terms(y_).empty()) return;
  auto waiting = lowering.take_waiting(y_);
  const std::optional<BufferId> recomputed = waiting.empty() ? std::nullopt : std::optional(lowering.new_like(y_));
  const BufferId gradient = emit_sums(lowering, recomputed);
  for (const auto& use : waiting) use(*recomputed);
  emit_combine(lowering);
  emit_backward_coefficients(lowering);
  if (group_.residual && lowering.needs_gradient(residual_)) lowering.gradients().add_term(residual_, gradient);
  for (const Piece& piece : pieces_) {
    if (!lowering.needs_gradient(piece.x)) continue;
    lowering.add_norm_gradient(piece.x, {.g = gradient,
                                         .g_offset = piece.first_lane * pixels_,
                                         .g_stride = lowering.sample_floats(y_),
                                         .mask_from_x = mask_source() == MaskSource::from_x,
                                         .scale = scale_,
                                         .shift = shift_,
                                         .on_x = on_x_,
                                         .constant = constant_,
                                         .first_lane = piece.first_lane});
  }
}

// The first pass; returns the buffer with the gradient that the second reads, masked if there is a residual or more than one term.
BufferId BatchNorm::emit_sums(Lowering& lowering, std::optional<BufferId> recomputed) {
  if (lowering.gradients().terms(y_).size() > 2) lowering.gradient(y_);
  const std::vector<BufferId> terms = lowering.gradients().terms(y_);
  const bool store = terms.size() == 2 || mask_source() == MaskSource::from_y;
  const BufferId gradient = store ? lowering.gradients().overwritable_term(y_).value_or(lowering.new_like(y_)) : terms.front();
  std::vector<BufferId> uses{scale_, shift_, gradient};
  uses.insert(uses.end(), terms.begin(), terms.end());
  if (recomputed) uses.push_back(*recomputed);
  if (mask_source() == MaskSource::from_y) uses.push_back(lowering.tensor(y_).buffer);
  for (Piece& piece : pieces_) {
    piece.partials =
        lowering.new_buffer(static_cast<std::size_t>(lowering.padded_channels(piece.x)) * 2 * sizeof(float), Buffer::Kind::batch);
    uses.insert(uses.end(), {lowering.tensor(piece.x).buffer, piece.moments->mean, piece.partials});
  }
  lowering.emit({.name = node_.name + " backward sums",
                 .category = "batch norm",
                 .uses = uses,
                 .bind_part = [this, &lowering, terms, store, gradient, recomputed](const Addresses& at, const Part& part) -> Run {
                   std::vector<NormBackwardSumsArgs> calls;
                   for (const Piece& piece : pieces_) {
                     const auto view = [&](BufferId buffer) {
                       return BlockedView{at.floats(buffer, part) + piece.first_lane * pixels_, lowering.sample_floats(y_)};
                     };
                     NormBackwardSumsArgs args{.extent = lowering.part_extent(piece.x),
                                               .terms = {view(terms[0]), {}},
                                               .x = {at.floats(lowering.tensor(piece.x).buffer, part), lowering.sample_floats(piece.x)},
                                               .mask = mask_source()};
                     if (terms.size() == 2) args.terms[1] = view(terms[1]);
                     if (mask_source() == MaskSource::from_y) args.y = view(lowering.tensor(y_).buffer);
                     if (store) args.masked = view(gradient);
                     if (recomputed) args.recomputed = view(*recomputed);
                     args.scale = at.floats(scale_) + piece.first_lane;
                     args.shift = at.floats(shift_) + piece.first_lane;
                     args.mean = at.floats(piece.moments->mean);
                     args.partials = at.floats(piece.partials, part);
                     calls.push_back(args);
                   }
                   return [calls, part, kernel = lowering.kernels().norm_backward_sums](const Call& call) mutable {
                     for (NormBackwardSumsArgs& args : calls) {
                       args.extent.samples = part.samples(call);
                       kernel(args);
                     }
                   };
                 }});
  if (store) lowering.gradients().replace_terms(y_, gradient);
  return gradient;
}

void BatchNorm::emit_combine(Lowering& lowering) {
  const std::int64_t padded = lowering.padded_channels(y_);
  sum_g_ = lowering.new_floats(padded);
  sum_gx_ = lowering.new_floats(padded);
  std::vector<BufferId> uses{sum_g_, sum_gx_};
  for (const Piece& piece : pieces_) uses.push_back(piece.partials);
  lowering.emit(
      {.name = node_.name + " combine", .category = "batch norm", .uses = uses, .bind = [this, &lowering](const Addresses& at) -> Run {
         std::vector<CombineArgs> calls;
         for (const Piece& piece : pieces_)
           calls.push_back({.extent = lowering.extent(piece.x),
                            .partials = at.floats(piece.partials),
                            .first = at.floats(sum_g_) + piece.first_lane,
                            .second = at.floats(sum_gx_) + piece.first_lane});
         return [calls, kernel = lowering.kernels().combine_sums](const Call& call) mutable {
           for (CombineArgs& args : calls) {
             args.extent.samples = call.batch->size;
             kernel(args);
           }
         };
       }});
}

// From this worker's sums to those over all workers, in units of this worker's mean loss: what was a sample's part of that, 1/size, is
// 1/samples of the mean over all. So each worker's sums weigh as much as its share of the samples.
void BatchNorm::exchange_sums(const Call& call, float* sum_g, float* sum_gx, std::vector<double>& sums) const {
  sums.clear();
  for (const std::int64_t l : lanes_) sums.insert(sums.end(), {call.share() * sum_g[l], call.share() * sum_gx[l]});
  call.exchange->sum(sums);
  for (std::size_t c = 0; c < lanes_.size(); ++c) {
    sum_g[lanes_[c]] = static_cast<float>(sums[2 * c]);
    sum_gx[lanes_[c]] = static_cast<float>(sums[2 * c + 1]);
  }
}

void BatchNorm::emit_backward_coefficients(Lowering& lowering) {
  on_x_ = lowering.new_floats(lowering.padded_channels(y_));
  constant_ = lowering.new_floats(lowering.padded_channels(y_));
  std::vector<BufferId> uses{scale_, sum_g_, sum_gx_, on_x_, constant_};
  for (const Piece& piece : pieces_) uses.insert(uses.end(), {piece.moments->mean, piece.moments->variance});
  lowering.emit({.name = node_.name + " backward coefficients",
                 .category = "batch norm",
                 .uses = uses,
                 .bind = [this, &lowering](const Addresses& at) -> Run {
                   std::vector<BackwardCoefficients> runs;
                   for (const Piece& piece : pieces_) {
                     const auto from = [&](BufferId buffer) { return at.floats(buffer) + piece.first_lane; };
                     runs.push_back({.lanes = lowering.padded_channels(piece.x),
                                     .epsilon = options_.epsilon,
                                     .scale = from(scale_),
                                     .sum_g = from(sum_g_),
                                     .sum_gx = from(sum_gx_),
                                     .mean = at.floats(piece.moments->mean),
                                     .variance = at.floats(piece.moments->variance),
                                     .on_x = from(on_x_),
                                     .constant = from(constant_)});
                   }
                   return [=, this, gamma = offset(lowering, 0), beta = offset(lowering, 1), variances = statistics_of_channels(at).second,
                           sum_g = at.floats(sum_g_), sum_gx = at.floats(sum_gx_), sums = std::vector<double>()](const Call& call) mutable {
                     for (std::size_t c = 0; c < lanes_.size(); ++c) {
                       const double inverse = 1.0 / (static_cast<double>(*variances[c]) + options_.epsilon);
                       const auto sum = static_cast<double>(sum_gx[lanes_[c]]);
                       call.model.gradients[static_cast<std::size_t>(gamma) + c] = static_cast<float>(sum * std::sqrt(inverse));
                       call.model.gradients[static_cast<std::size_t>(beta) + c] = sum_g[lanes_[c]];
                     }
                     if (call.exchange != nullptr) exchange_sums(call, sum_g, sum_gx, sums);
                     const auto count = static_cast<double>(call.batch->size * pixels_);
                     for (const BackwardCoefficients& run : runs) run.compute(count);
                   };
                 },
                 .ready = node_.parameters});
}

std::unique_ptr<Lowered> lower(const Group& group, Lowering& lowering) {
  return std::make_unique<BatchNorm>(group, lowering.node(group.leader));
}

}  // namespace

OpEntry batch_norm() {
  return {.name = "batch_norm", .fuses_relu = true, .fuses_add = true, .takes_pieces = true, .backward_reads_input = true, .lower = lower};
}

}  // namespace trireme::engine::ops
