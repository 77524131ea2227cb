// SPDX-License-Identifier: Apache-2.0
// Values and executor of one worker.
#include "trireme/train/team/replica.h"

#include <algorithm>
#include <limits>

#include "trireme/base/failpoint.h"
#include "trireme/train/team/evaluator.h"

namespace trireme::train {

Replica::Replica(const Job& job, std::filesystem::path algorithm_cache)
    : job_(job),
      algorithm_cache_(std::move(algorithm_cache)),
      optimizer_(optim::Optimizer::from_config(job.optimizer, job.graph.parameters())),
      parameters_(static_cast<std::size_t>(job.graph.parameters().size())),
      exchanged_(kHead + parameters_.size()),
      states_(static_cast<std::size_t>(job.graph.states().size())),
      slots_(optimizer_.slots().size(), std::vector<float>(parameters_.size())) {
  reset();
}

void Replica::reset() {
  job_.graph.initialize_parameters(parameters_, static_cast<std::uint64_t>(job_.train.seed));
  job_.graph.initialize_states(states_);
  for (std::vector<float>& slot : slots_) std::ranges::fill(slot, 0.0F);
}

const engine::CompileReport& Replica::compile_report() const {
  static const engine::CompileReport kNothing;
  return executor_ ? executor_->report() : kNothing;
}

void Replica::compile(std::int64_t samples) {
  samples = std::max<std::int64_t>(samples, 1);
  if (samples == capacity_) return;
  executor_.reset();  // its memory may be needed for the new one
  executor_.emplace(job_.graph, engine::ExecutorOptions{.batch_size = samples,
                                                        .mode = engine::Mode::train,
                                                        .threads = static_cast<int>(job_.train.threads),
                                                        .algorithm_cache = algorithm_cache_});
  capacity_ = samples;
}

engine::Outcome Replica::compute(const data::Batch& batch, const engine::GradientReady& ready, const engine::StatisticsExchange& statistics,
                                 const engine::ParametersNeeded& needed) {
  if (batch.size > 0) {
    const bool spoils = is_spoiled("step.gradients");
    const engine::GradientReady spoiled = [&](std::size_t slice) {
      gradients()[static_cast<std::size_t>(space()[slice].offset)] = std::numeric_limits<float>::quiet_NaN();
      if (ready) ready(slice);
    };
    engine::BatchView view = view_of(batch);
    view.class_weights = class_weights_;
    return executor_->train_step(view, {.parameters = parameters_, .states = states_, .gradients = gradients()}, spoils ? spoiled : ready,
                                 statistics, needed);
  }
  for (std::size_t slice = 0; needed && slice < space().slices().size(); ++slice) needed(slice);
  std::ranges::fill(gradients(), 0.0F);
  for (std::size_t slice = space().slices().size(); ready && slice-- > 0;) ready(slice);
  return {};
}

void Replica::watch(engine::OpTimes* times) {
  if (executor_) executor_->watch(times);
}

void Replica::update(double learning_rate, std::int64_t step) {
  optim::UpdateSpan span{.parameters = parameters_, .gradients = gradients(), .learning_rate = learning_rate, .step = step};
  std::copy(slots_.begin(), slots_.end(), span.slots.begin());
  optimizer_.update(0, span);
}

}  // namespace trireme::train
