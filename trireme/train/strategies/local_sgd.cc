// SPDX-License-Identifier: Apache-2.0
// local_sgd: each worker trains alone for some steps, then parameters and optimizer slots are averaged.
#include <array>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/train/strategy_entry.h"

namespace trireme::train::strategies {
namespace {

struct LocalSgdOptions {
  std::int64_t steps = 8;
};
void describe(LocalSgdOptions& o, OptionVisitor& visit) { visit("steps", o.steps, "local steps between two averages", 1, 1 << 20); }

class LocalSgd final : public Strategy {
 public:
  LocalSgd(const StrategyEntry::Setup& setup, const LocalSgdOptions& o) : team_(setup.team), clock_(setup.clock), steps_(o.steps) {}

  // Workers hear of each other only when they average, so between two averages a step tells of this worker's samples, scaled to
  // the whole batch, and requests wait.
  StepResult run(const StepInput& input, Replica& replica) override {
    StepResult result;
    input.enter("compute");
    const Seconds start = clock_.now();
    if (input.batch.size > 0) result.outcome = replica.compute(input.batch);
    const Seconds computed = clock_.now();
    input.enter("update");
    if (input.batch.size > 0) replica.update(input.learning_rate, input.update);
    samples_ += static_cast<double>(input.batch.size);
    scale(result.outcome, input.batch);
    const Seconds updated = clock_.now();
    if (++since_average_ >= steps_) {
      input.enter("exchange");
      result.requests = hear(input.requests);
      average(replica);
    }
    const double exchange = (clock_.now() - updated).count();
    result.times = {.forward = result.outcome.forward_seconds,
                    .backward = (computed - start).count() - result.outcome.forward_seconds,
                    .exposed = exchange,
                    .optimizer = (updated - computed).count(),
                    .exchange = exchange};
    return result;
  }

  void drain(Replica& replica) override {
    if (since_average_ > 0) average(replica);
  }

 private:
  static void scale(engine::Outcome& outcome, const data::Batch& batch) {
    const double factor = batch.size > 0 ? static_cast<double>(batch.whole) / static_cast<double>(batch.size) : 0.0;
    outcome.correct = std::lround(static_cast<double>(outcome.correct) * factor);
    outcome.samples = batch.whole;
  }
  Requests hear(const Requests& own) {
    std::array<double, 3> asked{own.stop ? 1.0 : 0.0, own.checkpoint ? 1.0 : 0.0, own.regroup ? 1.0 : 0.0};
    team_.sum(asked);
    return {.stop = asked[0] > 0, .checkpoint = asked[1] > 0, .regroup = asked[2] > 0};
  }
  void average(Replica& replica) {
    team_.average(replica.parameters(), samples_);
    for (std::vector<float>& slot : replica.slots()) team_.average(slot, samples_);
    samples_ = 0;
    since_average_ = 0;
  }

  Team& team_;
  const Clock& clock_;
  std::int64_t steps_;
  std::int64_t since_average_ = 0;
  double samples_ = 0;  // of this worker since the last average: its weight in the next
};

}  // namespace

StrategyEntry local_sgd() {
  return {.name = "local_sgd",
          .summary = "each worker trains alone for some steps, then all average",
          .consistency = Consistency::eventual,
          .options = options_type<LocalSgdOptions>(),
          .in_step = false,
          .short_keys = {"steps"},
          .make = [](const StrategyEntry::Setup& setup, const std::any& options) -> std::unique_ptr<Strategy> {
            return std::make_unique<LocalSgd>(setup, std::any_cast<const LocalSgdOptions&>(options));
          }};
}

}  // namespace trireme::train::strategies
