// SPDX-License-Identifier: Apache-2.0
// allreduce: every worker has the whole model; gradients, weighted by samples, are summed while backward still runs.
#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/base/finite.h"
#include "trireme/optim/norm.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/job/wire_choice.h"
#include "trireme/train/team/gradient_exchange.h"
#include "trireme/train/team/noise_scale.h"
#include "trireme/train/team/non_finite.h"

namespace trireme::train::strategies {
namespace {

struct AllreduceOptions {
  bool overlap = true;
  double fusion_mb = 0;
  std::string algorithm = "automatic";
  std::string wire = "f32";
  bool noise_scale = false;
};

void describe(AllreduceOptions& o, OptionVisitor& visit) {
  visit("overlap", o.overlap, "exchange gradients while backward still runs; otherwise all at once after it");
  visit("fusion_mb", o.fusion_mb,
        "gradients are collected up to this size before they are exchanged; 0: a quarter of the model, 0.25 to 16", 0.0, 4096.0);
  visit("algorithm", o.algorithm, "of the all-reduce", {"automatic", "ring", "halving_doubling"});
  visit("wire", o.wire, "numbers on the network; 16 bits halve the bytes and round the gradients", {"f32", "bf16", "f16"});
  visit("noise_scale", o.noise_scale, "measure the gradient noise scale, in every 16th step");
}

comm::Algorithm algorithm_of(const std::string& name) {
  if (name == "ring") return comm::Algorithm::ring;
  return name == "halving_doubling" ? comm::Algorithm::halving_doubling : comm::Algorithm::automatic;
}

std::int64_t bucket_bytes(const AllreduceOptions& o, const ParameterSpace& space) {
  constexpr double kMegabyte = 1 << 20;
  if (o.fusion_mb > 0) return std::llround(o.fusion_mb * kMegabyte);
  const double quarter = static_cast<double>(space.size()) * sizeof(float) / 4;
  return std::llround(std::clamp(quarter, 0.25 * kMegabyte, 16 * kMegabyte));
}

StrategyFacts facts(const std::any& options, const ParameterSpace& space) {
  const auto& o = std::any_cast<const AllreduceOptions&>(options);
  const std::int64_t bytes = space.size() * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t bucket = bucket_bytes(o, space);
  return {.exchange = Exchange::all_reduce,
          .bytes_per_value = bytes_per_value(o.wire),
          .buckets = o.overlap ? std::max<std::int64_t>(1, (bytes + bucket - 1) / bucket) : 1,
          .has_overlap = o.overlap};
}

constexpr std::int64_t kNoiseEvery = 16;  // steps: a measurement reads all gradients twice more

// Places in the head of what is exchanged. Sums over the workers are the result of the step.
enum Place : std::size_t { samples, loss, correct, penalty, stop, checkpoint, regroup, squares, computing, faulty, fault_bits };
// From fault_bits on: whose loss or gradients are not finite, one bit per rank; a float holds so many whatever the order of the sum.
constexpr int kBits = 24;
constexpr int kNamed = kBits * static_cast<int>(Replica::kHead - fault_bits);

std::vector<int> faulty_ranks(std::span<const float> head) {
  std::vector<int> ranks;
  for (int rank = 0; rank < kNamed; ++rank) {
    const auto bits = static_cast<std::uint32_t>(head[fault_bits + static_cast<std::size_t>(rank / kBits)]);
    if ((bits >> static_cast<unsigned>(rank % kBits) & 1U) != 0) ranks.push_back(rank);
  }
  return ranks;
}

class Allreduce final : public Strategy {
 public:
  Allreduce(const StrategyEntry::Setup& setup, const AllreduceOptions& o)
      : clock_(setup.clock),
        space_(setup.space),
        rank_(setup.team.rank()),
        measures_noise_(o.noise_scale || setup.measures_noise),
        exchange_(setup.team.communicator(), setup.space, Replica::kHead,
                  // Statistics are exchanged during backward too, and all workers must exchange everything in the same order.
                  {.overlap = o.overlap && !setup.sync_batch_norm,
                   .bucket_bytes = bucket_bytes(o, setup.space),
                   .reduce = {.algorithm = algorithm_of(o.algorithm), .wire = wire_type(o.wire)},
                   .timeout = setup.team.timeout(),
                   .spans = setup.spans},
                  setup.clock) {}

  StepResult run(const StepInput& input, Replica& replica) override {
    input.enter("compute");
    const Seconds start = clock_.now();
    const double weight = static_cast<double>(input.batch.size) / static_cast<double>(input.batch.whole);
    const bool measures = measures_noise_ && input.step % kNoiseEvery == 0;
    double own_squares = 0;
    bool is_sound = true;  // what this worker has computed
    exchange_.begin(replica.exchanged(), weight);
    const engine::Outcome own = replica.compute(
        input.batch,
        [&](std::size_t slice) {
          // Once it is ready it may be scaled and summed at any moment.
          is_sound = is_sound && are_finite(gradient_of(slice, replica));
          if (measures) own_squares += optim::squared_norm_of(gradient_of(slice, replica));
          exchange_.ready(slice);
        },
        input.statistics);
    write_head(own, input.requests, replica.head());
    if (!is_sound || !is_finite(own)) write_fault(replica.head());
    replica.head()[squares] = static_cast<float>(weight * own_squares);
    const Seconds computed = clock_.now();
    input.enter("exchange");
    failpoint("step.before_allreduce");
    const double exchanging = exchange_.finish();
    const Seconds exchanged = clock_.now();
    StepResult result = read_head(replica.head());
    // All have the same sums, so all find the same.
    if (replica.head()[faulty] > 0 || !are_finite(replica.gradients()))
      skip_or_throw(input, is_finite(own) ? result.outcome.loss : own.loss, faulty_ranks(replica.head()), result);
    if (measures && !result.is_skipped) result.noise_scale = measured_noise(replica);
    input.enter("update");
    if (!result.is_skipped) replica.update(input.learning_rate, input.update);
    failpoint("step.after_apply");
    result.times = {.forward = own.forward_seconds,
                    .backward = (computed - start).count() - own.forward_seconds,
                    .exposed = (exchanged - computed).count(),
                    .optimizer = (clock_.now() - exchanged).count(),
                    .exchange = exchanging};
    return result;
  }

 private:
  std::span<const float> gradient_of(std::size_t slice, Replica& replica) const {
    return replica.gradients().subspan(static_cast<std::size_t>(space_[slice].offset), static_cast<std::size_t>(space_[slice].count));
  }
  double measured_noise(Replica& replica) {
    const std::span<const float> head = replica.head();
    noise_.add({.local = head[squares],
                .mean = optim::squared_norm_of(replica.gradients()),
                .batch_size = head[samples],
                .workers = std::lround(head[computing])});
    return noise_.value();
  }
  static void write_head(const engine::Outcome& own, const Requests& requests, std::span<float> head) {
    const auto count = static_cast<double>(own.samples);
    std::ranges::fill(head, 0.0F);
    head[samples] = static_cast<float>(own.samples);
    head[loss] = own.samples > 0 ? static_cast<float>(own.loss * count) : 0.0F;
    head[correct] = static_cast<float>(own.correct);
    head[penalty] = own.samples > 0 ? static_cast<float>(own.penalty * count) : 0.0F;
    head[stop] = requests.stop ? 1.0F : 0.0F;
    head[checkpoint] = requests.checkpoint ? 1.0F : 0.0F;
    head[regroup] = requests.regroup ? 1.0F : 0.0F;
    head[computing] = own.samples > 0 ? 1.0F : 0.0F;
  }
  void write_fault(std::span<float> head) const {
    head[loss] = head[penalty] = 0;  // the others' stay readable
    head[faulty] = 1;
    if (rank_ < kNamed)
      head[fault_bits + static_cast<std::size_t>(rank_ / kBits)] = static_cast<float>(1U << static_cast<unsigned>(rank_ % kBits));
  }
  static StepResult read_head(std::span<const float> head) {
    const double count = std::max(1.0F, head[samples]);
    return {.outcome = {.samples = std::lround(head[samples]),
                        .correct = std::lround(head[correct]),
                        .loss = head[loss] / count,
                        .penalty = head[penalty] / count},
            .requests = {.stop = head[stop] > 0, .checkpoint = head[checkpoint] > 0, .regroup = head[regroup] > 0}};
  }

  const Clock& clock_;
  const ParameterSpace& space_;
  int rank_;
  bool measures_noise_;
  NoiseScale noise_;
  GradientExchange exchange_;
};

}  // namespace

StrategyEntry allreduce() {
  return {.name = "allreduce",
          .summary = "gradients averaged over all workers in every step, overlapped with backward",
          .consistency = Consistency::exact,
          .options = options_type<AllreduceOptions>(),
          .facts = facts,
          .make = [](const StrategyEntry::Setup& setup, const std::any& options) -> std::unique_ptr<Strategy> {
            return std::make_unique<Allreduce>(setup, std::any_cast<const AllreduceOptions&>(options));
          }};
}

}  // namespace trireme::train::strategies
