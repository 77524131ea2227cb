// SPDX-License-Identifier: Apache-2.0
// One worker computes what is not a number: it is named, and no weight anywhere is changed by it.
#include "trireme/train/team/non_finite.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>

#include "trireme/base/finite.h"
#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

using testing::HasSubstr;

// How a worker's training ended.
struct End {
  ErrorCode code = ok;
  std::string text;
  std::vector<float> before, after;  // parameters
};

// Rank 1 of three reads its samples as if they were not numbers.
std::vector<End> train_with_bad_samples(const std::vector<std::string>& settings) {
  std::vector<std::string> all{"train.epochs=2", "data.normalize=standard"};
  all.insert(all.end(), settings.begin(), settings.end());
  const Cluster cluster(all);
  data::DataSets bad = cluster.data;
  for (float& mean : bad.normalization.mean) mean = std::numeric_limits<float>::quiet_NaN();
  comm::MemoryStore store;
  std::vector<End> ends(3);
  const auto work = [&](int rank) {
    End& end = ends[static_cast<std::size_t>(rank)];
    Trainer trainer({.job = cluster.job, .data = rank == 1 ? bad : cluster.data, .clock = cluster.clock, .team_follows = true},
                    cluster.cache());
    const auto parameters = [&] {
      return std::vector<float>(trainer.replica().parameters().begin(), trainer.replica().parameters().end());
    };
    Memory memory;
    try {
      {
        const std::lock_guard in_turn(cluster.compiling);
        trainer.prepare(rank, 3);
      }
      trainer.enter(cluster.meet({.store = store, .rank = rank, .size = 3}));
      end.before = parameters();
      run_to_end(trainer, memory);
    } catch (const Error& error) {
      end.code = error.code();
      end.text = error.what();
    }
    trainer.abandon();
    end.after = parameters();
  };
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 3; ++rank) threads.emplace_back(work, rank);
  }
  return ends;
}

class NonFinite : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(InStep, NonFinite,
                         testing::Values("strategy.overlap=true", "strategy.overlap=false", "strategy.wire=f16", "strategy.wire=bf16",
                                         "strategy.algorithm=ring"),
                         [](const auto& test) {
                           std::string name = std::string(test.param).substr(9);
                           std::ranges::replace(name, '=', '_');
                           return name;
                         });

// Only rank 1 knows; all learn of it before the update, in the step itself.
TEST_P(NonFinite, AllNameTheWorkerAndKeepTheirWeights) {
  for (const End& end : train_with_bad_samples({GetParam()})) {
    EXPECT_EQ(end.code, out_of_range) << end.text;
    EXPECT_THAT(end.text, HasSubstr("step 1: the loss is"));
    EXPECT_THAT(end.text, HasSubstr("rank 1"));
    EXPECT_EQ(end.after, end.before);
  }
}

class NonFiniteAlone : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(OutOfStep, NonFiniteAlone,
                         testing::Values("local_sgd:4", "ps:async", "ps:bsp", "ps:ssp:2", "ps:dssp", "ps:async,wire=f16"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& letter : name)
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
                           return name;
                         });

// The worker ends before anything of its step leaves it; what the others have stays a number.
TEST_P(NonFiniteAlone, TheWorkerNamesItselfAndNothingOfItIsTaken) {
  const std::vector<End> ends = train_with_bad_samples({"strategy.name=switch", fmt::format("strategy.schedule=['{}']", GetParam())});
  EXPECT_EQ(ends[1].code, out_of_range) << ends[1].text;
  EXPECT_THAT(ends[1].text, HasSubstr("the loss is"));
  EXPECT_THAT(ends[1].text, HasSubstr("rank 1"));
  for (const End& end : ends) {
    EXPECT_NE(end.code, ok);
    EXPECT_TRUE(are_finite(end.after));
  }
}

// Weights that overflow are found by the step that follows, alone as well.
TEST(NonFiniteOfOne, IsFoundBeforeTheUpdate) {
  const Cluster cluster({"train.optimizer.learning_rate=1000000", "train.optimizer.momentum=0"});
  Trainer trainer({.job = cluster.job, .data = cluster.data, .clock = cluster.clock}, cluster.cache());
  Memory memory;
  std::vector<float> before;
  try {
    while (!trainer.finished()) {
      before.assign(trainer.replica().parameters().begin(), trainer.replica().parameters().end());
      trainer.advance(memory);
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), out_of_range);
    EXPECT_THAT(error.what(), HasSubstr("the loss is"));
  }
  ASSERT_FALSE(trainer.finished()) << "this learning rate is too small for this test";
  EXPECT_EQ(trainer.cursor().step, static_cast<std::int64_t>(memory.steps.size()));
  const std::vector<float> after(trainer.replica().parameters().begin(), trainer.replica().parameters().end());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin(), [](float a, float b) { return a == b || (a != a && b != b); }));
}

}  // namespace
}  // namespace trireme::train
