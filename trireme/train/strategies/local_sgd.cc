// SPDX-License-Identifier: Apache-2.0
// local_sgd: each worker trains alone for some steps, then parameters and optimizer slots are averaged.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/team/non_finite.h"

namespace trireme::train::strategies {
namespace {

struct LocalSgdOptions {
  std::int64_t steps = 8;
};
void describe(LocalSgdOptions& o, OptionVisitor& visit) { visit("steps", o.steps, "local steps between two averages", 1, 1 << 20); }

constexpr double kAgreementSeconds = 1;  // about: after so long all have received what one was asked for

// Of one worker or of all, since they last agreed.
struct Counts {
  double samples = 0, loss = 0, correct = 0;  // sums
};

class LocalSgd final : public Strategy {
 public:
  LocalSgd(const StrategyEntry::Setup& setup, const LocalSgdOptions& o) : team_(setup.team), clock_(setup.clock), steps_(o.steps) {}

  // An average is made before the step that follows it, and what workers report to each other is sent before the update: if either breaks,
  // this worker has just what belongs to the steps that it has counted. Between two agreements a step reports this worker's samples,
  // scaled to the whole batch, and requests wait, as do steps that were skipped: each is one worker's own, and the others learn of it.
  StepResult run(const StepInput& input, Replica& replica) override {
    StepResult result;
    double exchange = 0;
    const bool averages = since_average_ >= steps_;
    if (averages) exchange += timed(input, [&] { average(replica); });
    input.enter("compute");
    const Seconds start = clock_.now();
    if (input.batch.size > 0) result.outcome = replica.compute(input.batch);
    const Seconds computed = clock_.now();
    const bool skips = input.batch.size > 0 && skips_non_finite(input, replica.gradients(), team_.rank(), result);
    result.is_update = true;  // for the others it is one
    result.skips = {};
    if (skips)
      ++skipped_;
    else
      count(result.outcome);
    if (averages || input.is_last || since_agreement_ >= interval_) exchange += timed(input, [&] { agree(input.requests, result); });
    input.enter("update");
    const Seconds agreed = clock_.now();
    if (input.batch.size > 0 && !skips) replica.update(input.learning_rate, input.update);
    samples_ += static_cast<double>(input.batch.size);
    ++since_average_;
    ++since_agreement_;
    scale(result.outcome, input.batch);
    result.times = {.forward = result.outcome.forward_seconds,
                    .backward = (computed - start).count() - result.outcome.forward_seconds,
                    .exposed = exchange,
                    .optimizer = (clock_.now() - agreed).count(),
                    .exchange = exchange};
    return result;
  }

  void drain(Replica& replica) override {
    if (since_average_ > 0) average(replica);
  }

 private:
  template <class Exchange>
  double timed(const StepInput& input, const Exchange& exchange) {
    input.enter("exchange");
    const Seconds begin = clock_.now();
    exchange();
    return (clock_.now() - begin).count();
  }
  void count(const engine::Outcome& own) {
    const auto samples = static_cast<double>(own.samples);
    own_.samples += samples;
    own_.loss += own.loss * samples;
    own_.correct += static_cast<double>(own.correct);
  }
  // A worker that computed nothing reports what the others last did.
  void scale(engine::Outcome& outcome, const data::Batch& batch) const {
    const auto whole = static_cast<double>(batch.whole);
    if (batch.size == 0 && agreed_.samples > 0) {
      outcome.loss = agreed_.loss / agreed_.samples;
      outcome.correct = std::lround(whole * agreed_.correct / agreed_.samples);
    } else if (batch.size > 0) {
      outcome.correct = std::lround(static_cast<double>(outcome.correct) * whole / static_cast<double>(batch.size));
    }
    outcome.samples = batch.whole;
  }
  // All workers at the same step; when the next one is follows from what all know.
  void agree(const Requests& own, StepResult& result) {
    const double steps = std::max<double>(1, static_cast<double>(since_agreement_));
    const std::array<double, 2> report{(clock_.now() - agreed_at_).count() / steps, static_cast<double>(std::exchange(skipped_, 0))};
    const std::vector<double> all = team_.gather(report);
    double slowest = 0;
    for (std::size_t rank = 0; 2 * rank < all.size(); ++rank) {
      slowest = std::max(slowest, all[2 * rank]);
      const auto skipped = static_cast<std::int64_t>(all[2 * rank + 1]);
      result.skips.steps += skipped;
      if (skipped > 0) result.skips.ranks.push_back(static_cast<int>(rank));
    }
    std::array<double, 6> sums{own.stop ? 1.0 : 0.0, own.checkpoint ? 1.0 : 0.0, own.regroup ? 1.0 : 0.0, own_.samples, own_.loss,
                               own_.correct};
    team_.sum(sums);
    if (sums[3] > 0) agreed_ = {.samples = sums[3], .loss = sums[4], .correct = sums[5]};
    own_ = {};
    // At most twice as many steps as the last time: the first ones may not be like those that follow.
    const double fitting = kAgreementSeconds / std::max(slowest, 1e-6);
    interval_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(fitting), 1, std::max<std::int64_t>(1, 2 * interval_));
    since_agreement_ = 0;
    agreed_at_ = clock_.now();
    result.requests = {.stop = sums[0] > 0, .checkpoint = sums[1] > 0, .regroup = sums[2] > 0};
  }
  void average(Replica& replica) {
    std::vector<float> parameters = team_.averaged(replica.parameters(), samples_);
    failpoint("local_sgd.mid_average");
    std::vector<std::vector<float>> slots;
    for (const std::vector<float>& slot : replica.slots()) slots.push_back(team_.averaged(slot, samples_));
    replica.parameters() = std::move(parameters);
    replica.slots() = std::move(slots);
    samples_ = 0;
    since_average_ = 0;
  }

  Team& team_;
  const Clock& clock_;
  std::int64_t steps_;
  std::int64_t since_average_ = 0;    // steps
  double samples_ = 0;                // of this worker since the last average: its weight in the next
  std::int64_t since_agreement_ = 0;  // steps
  std::int64_t interval_ = 0;         // steps between two agreements; the first comes at once
  Seconds agreed_at_ = clock_.now();
  std::int64_t skipped_ = 0;  // steps of this worker since the last agreement
  Counts own_;                // of this worker, since the last agreement
  Counts agreed_;             // of all workers, in the last agreement
};

}  // namespace

StrategyEntry local_sgd() {
  return {.name = "local_sgd",
          .summary = "each worker trains alone for some steps, then all average",
          .consistency = Consistency::eventual,
          .options = options_type<LocalSgdOptions>(),
          .in_step = false,
          .short_keys = {"steps"},
          .facts =
              [](const std::any& options, const ParameterSpace&) {
                return StrategyFacts{.exchange = Exchange::all_reduce,
                                     .steps_between = std::any_cast<const LocalSgdOptions&>(options).steps,
                                     .sends_slots = true};
              },
          .make = [](const StrategyEntry::Setup& setup, const std::any& options) -> std::unique_ptr<Strategy> {
            return std::make_unique<LocalSgd>(setup, std::any_cast<const LocalSgdOptions&>(options));
          }};
}

}  // namespace trireme::train::strategies
