// SPDX-License-Identifier: Apache-2.0
// Times steps of the compiled network; their time doesn't depend on the values.
#include "trireme/inspect/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/base/table.h"
#include "trireme/engine/executor.h"
#include "trireme/optim/optimizer.h"
#include "trireme/train/job/job.h"

namespace trireme::inspect {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kEvaluationShare = 0.4;  // of the time of a training step
constexpr double kSeconds = 0.5;
constexpr std::int64_t kMaxSteps = 50;

train::Job job_of(const Inspection& inspection, const Recipe& recipe) {
  const Config written = Config::parse_toml(job_text(inspection, recipe, ""), "the job");
  return train::job_from_config(train::fit_to_data(written, inspection.format));
}

// A step's batch and the model's spaces, all zeros but the weights.
class Steps {
 public:
  Steps(const train::Job& job, const EngineRequest& engine)
      : batch_(job.train.batch_size),
        executor_(job.graph, {.batch_size = batch_, .threads = engine.threads, .algorithm_cache = engine.algorithm_cache}),
        inputs_(static_cast<std::size_t>(batch_ * job.graph.node(job.graph.inputs()[0]).shape.count())),
        targets_(static_cast<std::size_t>(batch_ * job.graph.node(job.graph.output()).shape.count())),
        labels_(static_cast<std::size_t>(batch_)),
        keys_(static_cast<std::size_t>(batch_)),
        parameters_(static_cast<std::size_t>(job.graph.parameters().size())),
        gradients_(parameters_.size()),
        states_(static_cast<std::size_t>(job.graph.states().size())) {
    job.graph.initialize_parameters(parameters_, 1);
    job.graph.initialize_states(states_);
  }

  void step() {
    executor_.train_step({.size = batch_, .inputs = {inputs_}, .labels = labels_, .targets = targets_, .sample_keys = keys_},
                         {.parameters = parameters_, .states = states_, .gradients = gradients_});
  }
  const engine::CompileReport& report() const { return executor_.report(); }

 private:
  std::int64_t batch_;
  engine::Executor executor_;
  std::vector<float> inputs_, targets_;
  std::vector<std::int32_t> labels_;
  std::vector<std::uint64_t> keys_;
  std::vector<float> parameters_, gradients_, states_;
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string duration(double seconds) {
  if (seconds < 10) return "a few seconds";
  if (seconds < 90) return fmt::format("about {:.0f} seconds", std::round(seconds / 5) * 5);
  if (seconds < 5400) return fmt::format("about {:.0f} minutes", seconds / 60);
  return fmt::format("about {:.1f} hours", seconds / 3600);
}

}  // namespace

std::string Estimate::text(std::int64_t epochs) const {
  return fmt::format("{} with {}, and {} for samples and network; by {} timed here, reading the files not included",
                     duration(epoch_seconds * static_cast<double>(epochs)), threads == 1 ? "1 thread" : fmt::format("{} threads", threads),
                     human_bytes(bytes), timed_steps == 1 ? "1 step" : fmt::format("{} steps", timed_steps));
}

Estimate estimate(const Inspection& inspection, const Recipe& recipe, const EngineRequest& engine) {
  const train::Job job = job_of(inspection, recipe);
  Steps steps(job, engine);
  steps.step();  // the first one touches all its memory
  Estimate result{.threads = steps.report().threads};
  const auto begin = Clock::now();
  std::vector<double> times;
  while (times.empty() || (std::ssize(times) < kMaxSteps && seconds_since(begin) < kSeconds)) {
    const auto step_begin = Clock::now();
    steps.step();
    times.push_back(seconds_since(step_begin));
  }
  result.timed_steps = std::ssize(times);
  std::ranges::sort(times);
  result.step_seconds = times[times.size() / 4];  // other programs make some steps slow
  const auto samples = static_cast<double>(inspection.samples);
  const double per_sample = result.step_seconds / static_cast<double>(recipe.batch_size);
  const double trained = samples * (1 - recipe.validation - recipe.test_split);
  result.epoch_seconds = per_sample * (trained + kEvaluationShare * samples * recipe.validation);
  const auto slots = static_cast<double>(optim::Optimizer::from_config(job.optimizer, job.graph.parameters()).slots().size());
  const double weights = static_cast<double>(job.graph.parameters().size()) * sizeof(float) * (3 + slots);
  result.bytes = (samples + static_cast<double>(inspection.test_samples)) * static_cast<double>(inspection.format.sample_bytes()) +
                 weights + static_cast<double>(steps.report().activation_bytes + steps.report().scratch_bytes);
  return result;
}

}  // namespace trireme::inspect
