// SPDX-License-Identifier: Apache-2.0
// The local training loop.
#include "trireme/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trireme/base/error.h"
#include "trireme/base/parallel.h"
#include "trireme/base/random.h"
#include "trireme/data/permutation.h"
#include "trireme/data/synthetic_options.h"

namespace trireme::train {
namespace {

std::uint64_t seed_of(std::int64_t seed) { return static_cast<std::uint64_t>(seed); }

std::unique_ptr<data::Source> open_part(const Job& job, data::Part part) {
  const data::SyntheticOptions options{.samples = job.data.samples, .test_samples = job.data.test_samples, .seed = job.data.seed};
  return data::find_reader(job.data.name).open({.part = part, .options = options});
}

std::unique_ptr<data::Source> checked(std::unique_ptr<data::Source> samples, const Job& job) {
  const graph::Graph& graph = job.graph;
  if (graph.loss() != "softmax_cross_entropy")
    throw Error{invalid_argument, "[model]: the loss {} can't be trained on '{}', which has labels; use softmax_cross_entropy",
                graph.loss(), job.data.name};
  const Shape& input = graph.node(graph.inputs().at(0)).shape;
  if (graph.inputs().size() != 1 || input.count() != samples->format().shape.count())
    throw Error{invalid_argument,  "[model]: takes {}{}, but a sample of '{}' is {}; change the model's input or the data",
                input.to_string(), graph.inputs().size() > 1 ? " and more inputs" : "",
                job.data.name,     samples->format().shape.to_string()};
  const Shape& output = graph.node(graph.output()).shape;
  if (output.count() < samples->format().classes)
    throw Error{invalid_argument, "[model]: has {} outputs, but '{}' has {} classes", output.to_string(), job.data.name,
                samples->format().classes};
  return samples;
}

engine::ExecutorOptions executor_options(const Job& job, engine::Mode mode, const std::filesystem::path& algorithm_cache) {
  return {.batch_size = mode == engine::Mode::train ? std::min(job.train.batch_size, job.data.samples) : job.train.batch_size,
          .mode = mode,
          .threads = static_cast<int>(job.train.threads),
          .algorithm_cache = algorithm_cache};
}

optim::ScheduleSpan schedule_span(const Job& job) {
  return {.samples_per_epoch = job.data.samples, .epochs = static_cast<double>(job.train.epochs), .batch_size = job.train.batch_size};
}

// Calls visit(indices) for each batch of `order`; the last may be smaller.
template <class Visit>
void for_each_batch(const std::vector<std::int64_t>& order, std::int64_t batch_size, const Visit& visit) {
  const auto extent = static_cast<std::size_t>(batch_size);
  for (std::size_t from = 0; from < order.size(); from += extent)
    visit(std::span(order).subspan(from, std::min(extent, order.size() - from)));
}

}  // namespace

struct Trainer::Tally {
  std::int64_t samples = 0;
  std::int64_t correct = 0;
  double loss_sum = 0;
  double penalty = 0;

  void add(const engine::Outcome& outcome) {
    samples += outcome.samples;
    correct += outcome.correct;
    loss_sum += outcome.loss * static_cast<double>(outcome.samples);
    penalty = outcome.penalty;
  }
  double per_sample(double sum) const { return samples == 0 ? 0 : sum / static_cast<double>(samples); }
  double loss() const { return per_sample(loss_sum); }
  double accuracy() const { return per_sample(static_cast<double>(correct)); }
};

Trainer::Trainer(const Job& job, const Clock& clock, const std::filesystem::path& algorithm_cache)
    : job_(job),
      clock_(clock),
      samples_(checked(open_part(job, data::Part::train), job)),
      test_samples_(open_part(job, data::Part::test)),
      executor_(job.graph, executor_options(job, engine::Mode::train, algorithm_cache)),
      evaluator_(job.graph, executor_options(job, engine::Mode::evaluate, algorithm_cache)),
      optimizer_(optim::Optimizer::from_config(job.optimizer, job.graph.parameters())),
      schedule_(job.schedule, schedule_span(job)),
      batch_(*samples_, job.train.batch_size),
      test_batch_(*test_samples_, job.train.batch_size),
      parameters_(static_cast<std::size_t>(job.graph.parameters().size())),
      gradients_(parameters_.size()),
      states_(static_cast<std::size_t>(job.graph.states().size())),
      slots_(optimizer_.slots().size(), std::vector<float>(parameters_.size())) {
  job.graph.initialize_parameters(parameters_, seed_of(job.train.seed));
  job.graph.initialize_states(states_);
}

EpochRecord Trainer::run(Observer& observer) {
  const ThreadScope threads(executor_.report().threads);
  EpochRecord record;
  for (std::int64_t epoch = 0; epoch < job_.train.epochs; ++epoch) {
    record = run_epoch(epoch, observer);
    observer.epoch(record);
  }
  return record;
}

EpochRecord Trainer::run_epoch(std::int64_t epoch, Observer& observer) {
  const std::uint64_t seed = seed_of(job_.train.seed);
  const Seconds start = clock_.now();
  const auto speed = [&](const Tally& tally) {
    return static_cast<double>(tally.samples) / std::max((clock_.now() - start).count(), 1e-9);
  };
  Tally tally;
  for_each_batch(data::epoch_permutation(samples_->size(), seed, epoch), job_.train.batch_size, [&](std::span<const std::int64_t> indices) {
    tally.add(step(indices, combine(seed, static_cast<std::uint64_t>(epoch))));
    observer.step({.epoch = epoch,
                   .samples_seen = samples_seen_,
                   .samples_total = samples_->size() * job_.train.epochs,
                   .loss = tally.loss(),
                   .accuracy = tally.accuracy(),
                   .samples_per_second = speed(tally)});
  });
  EpochRecord record{.epoch = epoch,
                     .samples = tally.samples,
                     .learning_rate = learning_rate_,
                     .loss = tally.loss(),
                     .penalty = tally.penalty,
                     .accuracy = tally.accuracy(),
                     .seconds = (clock_.now() - start).count(),
                     .samples_per_second = speed(tally)};
  const Tally test = evaluate();
  record.test_loss = test.loss();
  record.test_accuracy = test.accuracy();
  return record;
}

engine::Outcome Trainer::step(std::span<const std::int64_t> indices, std::uint64_t key_root) {
  const engine::Outcome outcome = executor_.train_step(batch_.fill(indices, key_root), model());
  if (!std::isfinite(outcome.loss))
    throw Error{aborted, "step {}: the loss is {}; lower train.optimizer.learning_rate ({:g} in this step)", steps_ + 1, outcome.loss,
                learning_rate_};
  update();
  samples_seen_ += outcome.samples;
  return outcome;
}

void Trainer::update() {
  learning_rate_ = optimizer_.learning_rate() * schedule_.factor(static_cast<double>(samples_seen_));
  optim::UpdateSpan span{.parameters = parameters_, .gradients = gradients_, .learning_rate = learning_rate_, .step = ++steps_};
  std::copy(slots_.begin(), slots_.end(), span.slots.begin());
  optimizer_.update(0, span);
}

Trainer::Tally Trainer::evaluate() {
  std::vector<std::int64_t> order(static_cast<std::size_t>(test_samples_->size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  Tally tally;
  for_each_batch(order, job_.train.batch_size,
                 [&](std::span<const std::int64_t> indices) { tally.add(evaluator_.evaluate(test_batch_.fill(indices, 0), model())); });
  return tally;
}

}  // namespace trireme::train
