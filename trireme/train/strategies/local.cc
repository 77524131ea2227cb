// SPDX-License-Identifier: Apache-2.0
// local: one node, all its cores.
#include "trireme/base/error.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/team/non_finite.h"

namespace trireme::train::strategies {
namespace {

struct LocalOptions {};
void describe(LocalOptions&, OptionVisitor&) {}

class Local final : public Strategy {
 public:
  explicit Local(const StrategyEntry::Setup& setup) : clock_(setup.clock) {
    if (!setup.team.is_alone())
      throw Error{invalid_argument, "[strategy]: 'local' is for one node, and there are {}; take allreduce", setup.team.size()};
  }

  StepResult run(const StepInput& input, Replica& replica) override {
    StepResult result{.requests = input.requests};
    input.enter("compute");
    const Seconds start = clock_.now();
    result.outcome = replica.compute(input.batch);
    const Seconds computed = clock_.now();
    input.enter("update");
    if (!skips_non_finite(input, replica.gradients(), 0, result)) replica.update(input.learning_rate, input.update);
    result.times = {.forward = result.outcome.forward_seconds,
                    .backward = (computed - start).count() - result.outcome.forward_seconds,
                    .optimizer = (clock_.now() - computed).count()};
    return result;
  }

 private:
  const Clock& clock_;
};

}  // namespace

StrategyEntry local() {
  return {.name = "local",
          .summary = "one node, all its cores",
          .consistency = Consistency::exact,
          .options = options_type<LocalOptions>(),
          .for_one = true,
          .facts = [](const std::any&, const ParameterSpace&) { return StrategyFacts{}; },
          .make = [](const StrategyEntry::Setup& setup, const std::any&) -> std::unique_ptr<Strategy> {
            return std::make_unique<Local>(setup);
          }};
}

}  // namespace trireme::train::strategies
