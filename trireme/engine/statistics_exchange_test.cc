// SPDX-License-Identifier: Apache-2.0
// Workers with parts of a batch and an exchange of batch-norm statistics together compute what one does with all of it.
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

#include "trireme/base/random.h"
#include "trireme/engine/executor.h"
#include "trireme/graph/builder.h"
#include "trireme/graph/model_file.h"

namespace trireme::engine {
namespace {

constexpr std::int64_t kClasses = 10;

// A sum over threads, added in their order.
class SumOverThreads {
 public:
  explicit SumOverThreads(std::size_t workers) : parts_(workers), barrier_(static_cast<std::ptrdiff_t>(workers)) {}

  void operator()(std::size_t worker, std::span<double> values) {
    parts_[worker].assign(values.begin(), values.end());
    barrier_.arrive_and_wait();
    std::fill(values.begin(), values.end(), 0.0);
    for (const auto& part : parts_) {
      EXPECT_EQ(part.size(), values.size());
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += part[i];
    }
    barrier_.arrive_and_wait();
  }

 private:
  std::vector<std::vector<double>> parts_;
  std::barrier<> barrier_;
};

struct Result {
  std::vector<float> gradients, states;
  double loss = 0;
};

// A model and samples for it.
class Problem {
 public:
  Problem(graph::Graph graph, std::int64_t samples)
      : graph_(std::move(graph)),
        samples_(samples),
        width_(graph_.node(graph_.inputs()[0]).shape.count()),
        parameters_(static_cast<std::size_t>(graph_.parameters().size())),
        input_(static_cast<std::size_t>(samples * width_)) {
    graph_.initialize_parameters(parameters_, 3);
    RandomStream random(4);
    for (float& x : input_) x = static_cast<float>(random.uniform() * 2 + 1);  // far from zero: means matter
    for (std::int64_t i = 0; i < samples; ++i) {
      labels_.push_back(static_cast<std::int32_t>(random.below(kClasses)));
      keys_.push_back(random.bits());
    }
  }

  const graph::Graph& graph() const { return graph_; }

  Result step(std::int64_t first, std::int64_t count, const StatisticsExchange& exchange) const {
    const auto from = static_cast<std::size_t>(first);
    const BatchView batch{.size = count,
                          .inputs = {std::span(input_).subspan(static_cast<std::size_t>(first * width_))},
                          .labels = std::span(labels_).subspan(from),
                          .sample_keys = std::span(keys_).subspan(from)};
    Result result{.gradients = std::vector<float>(parameters_.size()),
                  .states = std::vector<float>(static_cast<std::size_t>(graph_.states().size()))};
    graph_.initialize_states(result.states);
    // A batch with room to spare, as the last one of an epoch has.
    Executor executor(graph_, {.batch_size = count + 1, .threads = 1, .algorithms = Algorithms::direct});
    result.loss = executor.train_step(batch, {parameters_, result.states, result.gradients}, {}, exchange).loss;
    return result;
  }

  Result whole() const { return step(0, samples_, {}); }

  std::vector<Result> divided(const std::vector<std::int64_t>& shares) const {
    SumOverThreads sum(shares.size());
    std::vector<Result> results(shares.size());
    std::vector<std::jthread> threads;
    for (std::size_t worker = 0; worker < shares.size(); ++worker) {
      const std::int64_t first = std::accumulate(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(worker), std::int64_t{0});
      threads.emplace_back([&, worker, first] {
        results[worker] = step(first, shares[worker], {.samples = samples_, .sum = [&](std::span<double> values) { sum(worker, values); }});
      });
    }
    threads.clear();
    return results;
  }

 private:
  graph::Graph graph_;
  std::int64_t samples_;
  std::int64_t width_;
  std::vector<float> parameters_, input_;
  std::vector<std::int32_t> labels_;
  std::vector<std::uint64_t> keys_;
};

// Relative to the largest of a slice: each layer has its own scale. (A bias before a batch_norm has only rounding errors for a gradient.)
void expect_close(const ParameterSpace& space, const std::vector<float>& found, const std::vector<float>& wanted, const char* what) {
  for (const Slice& slice : space.slices()) {
    double scale = 0, worst = 0;
    for (std::int64_t i = slice.offset; i < slice.offset + slice.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      scale = std::max(scale, std::abs(static_cast<double>(wanted[at])));
      worst = std::max(worst, std::abs(static_cast<double>(found[at]) - static_cast<double>(wanted[at])));
    }
    EXPECT_LE(worst, 1e-4 * scale + 1e-6) << what << " of " << slice.name;
  }
}

void expect_same_as_one_worker(const Problem& problem, const std::vector<std::int64_t>& shares) {
  const Result whole = problem.whole();
  const std::vector<Result> parts = problem.divided(shares);
  const auto samples = static_cast<double>(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}));
  std::vector<float> gradients(whole.gradients.size());
  double loss = 0;
  for (std::size_t worker = 0; worker < shares.size(); ++worker) {
    const double share = static_cast<double>(shares[worker]) / samples;
    loss += share * parts[worker].loss;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      gradients[i] += static_cast<float>(share * static_cast<double>(parts[worker].gradients[i]));
    EXPECT_EQ(parts[worker].states, parts[0].states);
  }
  EXPECT_NEAR(loss, whole.loss, 1e-5);
  expect_close(problem.graph().parameters(), gradients, whole.gradients, "gradient");
  expect_close(problem.graph().states(), parts[0].states, whole.states, "state");
}

// Two blocks with a residual each, the second one with a stride. A bias before a batch_norm has no gradient to compare.
graph::Graph small_resnet() {
  graph::Builder b;
  const auto conv = [&](graph::Value x, std::int64_t kernel, std::int64_t stride) {
    return b.conv2d(x, {.filters = 12, .kernel = kernel, .stride = stride, .padding = graph::Padding::same(), .bias = false, .l2 = 1e-4});
  };
  auto x = b.relu(b.batch_norm(conv(b.input({3, 8, 8}), 3, 1)));
  for (const std::int64_t stride : {1, 2}) {
    const auto y = b.batch_norm(conv(b.relu(b.batch_norm(conv(x, 3, stride))), 3, 1));
    x = b.relu(b.add(y, stride == 1 ? x : conv(x, 1, stride)));
  }
  return b.finish(b.dense(b.global_average_pool(x), {.units = kClasses}));
}

graph::Graph zoo_model(const char* name, const char* depth) {
  Config model;
  model.set("name", name, "test");
  model.set("depth", depth, "test");
  return graph::graph_from_config(model);
}

TEST(StatisticsExchange, TwoHalves) { expect_same_as_one_worker({small_resnet(), 8}, {4, 4}); }
TEST(StatisticsExchange, UnevenShares) { expect_same_as_one_worker({small_resnet(), 9}, {1, 6, 2}); }
// Concatenations in pieces, moments that several layers share, dropout, outputs computed again.
TEST(StatisticsExchange, DenseNet) { expect_same_as_one_worker({zoo_model("densenet", "10"), 6}, {4, 2}); }
TEST(StatisticsExchange, ResNetV2) { expect_same_as_one_worker({zoo_model("resnet_v2", "11"), 5}, {2, 3}); }

TEST(StatisticsExchange, WithoutItWorkersSeeOtherStatistics) {
  const Problem problem(small_resnet(), 8);
  EXPECT_NE(problem.step(0, 4, {}).states, problem.whole().states);
}

TEST(StatisticsExchange, AloneChangesNothing) {
  const Problem problem(small_resnet(), 8);
  const Result whole = problem.whole();
  const Result alone = problem.step(0, 8, {.samples = 8, .sum = [](std::span<double>) {}});
  expect_close(problem.graph().parameters(), alone.gradients, whole.gradients, "gradient");
}

}  // namespace
}  // namespace trireme::engine
