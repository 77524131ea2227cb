// SPDX-License-Identifier: Apache-2.0
// averaging: every worker updates its own parameters, then all average them; a strategy that is added from outside.
#include <algorithm>
#include <array>

#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/team/strategy.h"

namespace trireme::train::strategies {
namespace {

struct AveragingOptions {};
void describe(AveragingOptions&, OptionVisitor&) {}

class Averaging final : public Strategy {
 public:
  explicit Averaging(const StrategyEntry::Setup& setup) : team_(setup.team), clock_(setup.clock) {}

  StepResult run(const StepInput& input, Replica& replica) override {
    StepResult result;
    input.enter("compute");
    const Seconds start = clock_.now();
    if (input.batch.size > 0) {
      result.outcome = replica.compute(input.batch);
      replica.update(input.learning_rate, input.update);
    }
    const Seconds computed = clock_.now();
    input.enter("exchange");
    replica.parameters() = team_.averaged(replica.parameters(), static_cast<double>(input.batch.size));
    for (std::vector<float>& slot : replica.slots()) slot = team_.averaged(slot, static_cast<double>(input.batch.size));
    agree(input, result);
    const double exchange = (clock_.now() - computed).count();
    result.times = {.backward = (computed - start).count(), .exposed = exchange, .exchange = exchange};
    return result;
  }

 private:
  void agree(const StepInput& input, StepResult& result) {
    const auto samples = static_cast<double>(result.outcome.samples);
    const Requests& own = input.requests;
    std::array<double, 6> sums{samples,
                               result.outcome.loss * samples,
                               static_cast<double>(result.outcome.correct),
                               own.stop ? 1.0 : 0.0,
                               own.checkpoint ? 1.0 : 0.0,
                               own.regroup ? 1.0 : 0.0};
    team_.sum(sums);
    result.outcome.samples = static_cast<std::int64_t>(sums[0]);
    result.outcome.loss = sums[1] / std::max(1.0, sums[0]);
    result.outcome.correct = static_cast<std::int64_t>(sums[2]);
    result.requests = {.stop = sums[3] > 0, .checkpoint = sums[4] > 0, .regroup = sums[5] > 0};
  }

  Team& team_;
  const Clock& clock_;
};

}  // namespace

StrategyEntry averaging() {
  return {
      .name = "averaging",
      .summary = "each worker updates its own parameters, then all average them",
      .consistency = Consistency::eventual,
      .options = options_type<AveragingOptions>(),
      .facts = [](const std::any&, const ParameterSpace&) { return StrategyFacts{.exchange = Exchange::all_reduce, .sends_slots = true}; },
      .make = [](const StrategyEntry::Setup& setup, const std::any&) -> std::unique_ptr<Strategy> {
        return std::make_unique<Averaging>(setup);
      }};
}

}  // namespace trireme::train::strategies
