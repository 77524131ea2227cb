// SPDX-License-Identifier: Apache-2.0
// Each optimizer against its formula in scalar double precision, and the same bits however the space is cut and shared out.
#include "trireme/optim/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/parallel.h"
#include "trireme/base/random.h"

namespace trireme::optim {
namespace {

ParameterSpace example_space() {
  ParameterSpace space;
  space.add("conv/kernel", {37, 19, 3, 3});
  space.add("conv/bias", {37});
  space.add("dense/kernel", {301, 211});
  space.add("dense/bias", {301});
  return space;
}

// One weight's update, as a person would write it down.
struct Scalar {
  double w = 0, a = 0, b = 0;  // a, b: slots
};
struct Context {
  double rate = 0;
  double step = 1;
  double parameter_norm = 0;  // of the weight's slice
  double gradient_norm = 0;
  bool vector = false;
};
using Formula = std::function<void(Scalar&, double g, const Context&)>;

struct Case {
  std::string config;
  Formula formula;
};

void lars_formula(Scalar& x, double g, const Context& c) {
  const double trust = c.vector ? 1 : 0.01 * c.parameter_norm / (c.gradient_norm + 0.001 * c.parameter_norm);
  x.a = 0.9 * x.a + c.rate * trust * (g + (c.vector ? 0 : 0.001 * x.w));
  x.w -= x.a;
}

Formula adam_formula(double decay) {
  return [decay](Scalar& x, double g, const Context& c) {
    x.w -= c.rate * decay * x.w;
    x.a = 0.9 * x.a + 0.1 * g;
    x.b = 0.999 * x.b + 0.001 * g * g;
    const double mean = x.a / (1 - std::pow(0.9, c.step));
    const double square = x.b / (1 - std::pow(0.999, c.step));
    x.w -= c.rate * mean / (std::sqrt(square) + 1e-8);
  };
}

void adadelta_formula(Scalar& x, double g, const Context& c) {
  x.a = 0.95 * x.a + 0.05 * g * g;
  const double change = std::sqrt(x.b + 1e-7) / std::sqrt(x.a + 1e-7) * g;
  x.b = 0.95 * x.b + 0.05 * change * change;
  x.w -= c.rate * change;
}

void nesterov_formula(Scalar& x, double g, const Context& c) {
  x.a = 0.9 * x.a + g;
  x.w -= c.rate * (g + 0.9 * x.a);
}

std::vector<Case> cases() {
  return {
      {"name = 'sgd'", [](Scalar& x, double g, const Context& c) { x.w -= c.rate * g; }},
      {"name = 'sgd'\nmomentum = 0.9", [](Scalar& x, double g, const Context& c) { x.w -= c.rate * (x.a = 0.9 * x.a + g); }},
      {"name = 'sgd'\nmomentum = 0.9\nnesterov = true", nesterov_formula},
      {"name = 'adam'", adam_formula(0)},
      {"name = 'adamw'\nweight_decay = 0.1", adam_formula(0.1)},
      {"name = 'rmsprop'",
       [](Scalar& x, double g, const Context& c) {
         x.a = 0.9 * x.a + 0.1 * g * g;
         x.w -= c.rate * g / (std::sqrt(x.a) + 1e-7);
       }},
      {"name = 'rmsprop'\nmomentum = 0.5",
       [](Scalar& x, double g, const Context& c) {
         x.a = 0.9 * x.a + 0.1 * g * g;
         x.w -= c.rate * (x.b = 0.5 * x.b + g / (std::sqrt(x.a) + 1e-7));
       }},
      {"name = 'adagrad'\ninitial = 0.1",
       [](Scalar& x, double g, const Context& c) {
         x.a += g * g;
         x.w -= c.rate * g / (std::sqrt(0.1 + x.a) + 1e-10);
       }},
      {"name = 'adadelta'", adadelta_formula},
      {"name = 'lars'\nmomentum = 0.9\nweight_decay = 0.001\ntrust = 0.01", lars_formula},
  };
}

// The arrays an optimizer works on, filled from a seed.
struct Arrays {
  explicit Arrays(std::int64_t size)
      : parameters(static_cast<std::size_t>(size)), gradients(parameters.size()), slots(kMaxSlots, gradients) {
    RandomStream random(7);
    for (float& value : parameters) value = static_cast<float>(random.uniform(-1, 1));
  }
  void next_gradients(std::int64_t step) {
    RandomStream random(combine(11, static_cast<std::uint64_t>(step)));
    for (float& value : gradients) value = static_cast<float>(random.normal());
  }
  UpdateSpan span(const Optimizer& optimizer, std::size_t offset, std::size_t count, std::int64_t step) {
    UpdateSpan span{.parameters = std::span(parameters).subspan(offset, count),
                    .gradients = std::span(gradients).subspan(offset, count),
                    .learning_rate = optimizer.learning_rate(),
                    .step = step};
    for (std::size_t slot = 0; slot < optimizer.slots().size(); ++slot) span.slots[slot] = std::span(slots[slot]).subspan(offset, count);
    return span;
  }

  std::vector<float> parameters, gradients;
  std::vector<std::vector<float>> slots;
};

class OptimizerCase : public testing::TestWithParam<std::size_t> {
 protected:
  Optimizer make() const { return Optimizer::from_config(Config::parse_toml(test_case_.config, "test"), space_); }

  // Some steps, each in ranges between `cuts`.
  std::vector<float> run(const std::vector<std::int64_t>& cuts, int threads) const {
    const ThreadScope scope(threads);
    const Optimizer optimizer = make();
    Arrays arrays(space_.size());
    for (std::int64_t step = 1; step <= 4; ++step) {
      arrays.next_gradients(step);
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        const auto from = static_cast<std::size_t>(cuts[i]);
        optimizer.update(cuts[i], arrays.span(optimizer, from, static_cast<std::size_t>(cuts[i + 1]) - from, step));
      }
    }
    return arrays.parameters;
  }

  const ParameterSpace space_ = example_space();
  const Case test_case_ = cases()[GetParam()];
};

double norm(const std::vector<double>& values, const Slice& slice) {
  double sum = 0;
  for (std::int64_t i = slice.offset; i < slice.offset + slice.count; ++i) sum += std::pow(values[static_cast<std::size_t>(i)], 2);
  return std::sqrt(sum);
}

TEST_P(OptimizerCase, FollowsItsFormula) {
  const Optimizer optimizer = make();
  Arrays arrays(space_.size());
  std::vector<Scalar> expected(arrays.parameters.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i].w = arrays.parameters[i];
  for (std::int64_t step = 1; step <= 6; ++step) {
    arrays.next_gradients(step);
    optimizer.update(0, arrays.span(optimizer, 0, expected.size(), step));
    std::vector<double> before(expected.size());
    std::transform(expected.begin(), expected.end(), before.begin(), [](const Scalar& x) { return x.w; });
    const std::vector<double> gradients(arrays.gradients.begin(), arrays.gradients.end());
    for (const Slice& slice : space_.slices()) {
      const Context context{.rate = optimizer.learning_rate(),
                            .step = static_cast<double>(step),
                            .parameter_norm = norm(before, slice),
                            .gradient_norm = norm(gradients, slice),
                            .vector = slice.shape.rank() == 1};
      for (std::int64_t i = slice.offset; i < slice.offset + slice.count; ++i)
        test_case_.formula(expected[static_cast<std::size_t>(i)], gradients[static_cast<std::size_t>(i)], context);
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(arrays.parameters[i], expected[i].w, 4e-6) << "value " << i;
}

TEST_P(OptimizerCase, SameBitsHoweverItIsCutAndSharedOut) {
  const std::vector<float> whole = run({0, space_.size()}, 1);
  EXPECT_EQ(run({0, space_.size()}, 2), whole);
  EXPECT_EQ(run({0, space_[1].offset, space_[3].offset, space_.size()}, 2), whole);
  if (make().entry().slice_rate != nullptr) return;  // whole slices only
  EXPECT_EQ(run({0, 1, 5, 4711, 4712, 50001, space_.size()}, 2), whole);
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerCase, testing::Range(std::size_t{0}, cases().size()),
                         [](const auto& test) { return fmt::format("case_{}", test.param); });

TEST(Optimizer, EveryEntryOfTheCatalogueHasACase) {
  std::set<std::string_view> tested;
  const ParameterSpace space = example_space();
  for (const Case& c : cases()) tested.insert(Optimizer::from_config(Config::parse_toml(c.config, "test"), space).entry().name);
  for (const OptimizerEntry& entry : optimizers::catalog()) EXPECT_TRUE(tested.contains(entry.name)) << entry.name;
}

TEST(Optimizer, NamesTheNearestOptimizer) {
  try {
    find_optimizer("rmsprob");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "there is no optimizer 'rmsprob'; did you mean 'rmsprop'? (optimizers: adadelta, adagrad, adam, adamw, lars, rmsprop, sgd)");
  }
}

TEST(Optimizer, RefusesAnUnknownOption) {
  const ParameterSpace space = example_space();
  EXPECT_THROW(Optimizer::from_config(Config::parse_toml("name = 'adam'\nmomentun = 1", "test"), space), Error);
}

TEST(Optimizer, LarsRefusesHalfASlice) {
  const ParameterSpace space = example_space();
  const Optimizer lars = Optimizer::from_config(Config::parse_toml("name = 'lars'", "test"), space);
  Arrays arrays(space.size());
  EXPECT_THROW(lars.update(0, arrays.span(lars, 0, 100, 1)), Error);
  EXPECT_THROW(lars.update(100, arrays.span(lars, 100, static_cast<std::size_t>(space.size()) - 100, 1)), Error);
}

}  // namespace
}  // namespace trireme::optim
