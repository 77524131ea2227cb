// SPDX-License-Identifier: Apache-2.0
// Batches with fewer samples than there are workers: some compute nothing, and all take part in everything else.
#include <gmock/gmock.h>

#include <cctype>
#include <ostream>

#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

struct Case {
  std::string strategy;
  std::string batch_size;
  bool is_exact = false;
};
std::ostream& operator<<(std::ostream& out, const Case& of) { return out << of.strategy << " with batches of " << of.batch_size; }

class SmallBatches : public testing::TestWithParam<Case> {};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char* size : {"1", "3"}) {
    for (const char* exact : {"allreduce", "ps:bsp", "ps:bsp,servers=1,placement=dedicated", "ps:ssp:0"})
      out.push_back({.strategy = exact, .batch_size = size, .is_exact = true});
    for (const char* other : {"local_sgd:4", "ps:async", "ps:ssp:2", "ps:dssp", "ps:bsp,backup_workers=1"})
      out.push_back({.strategy = other, .batch_size = size});
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Strategies, SmallBatches, testing::ValuesIn(cases()), [](const auto& test) {
  std::string name = test.param.strategy + "_" + test.param.batch_size;
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
});

// 26 samples: the last batch of 3 has 2, which other workers get than those of a full one.
TEST_P(SmallBatches, AreTrainedAndEvaluatedByAll) {
  const Cluster cluster({"strategy.name=switch", fmt::format("strategy.schedule=['{}']", GetParam().strategy),
                         "train.batch_size=" + GetParam().batch_size, "data.samples=26", "data.test_samples=11", "train.epochs=6",
                         "train.optimizer.learning_rate=0.01"});
  const std::vector<Trained> team = cluster.train(4);
  const Memory& lead = team[0].memory;
  ASSERT_EQ(lead.epochs.size(), 6U);
  for (const EpochRecord& epoch : lead.epochs) {
    EXPECT_EQ(epoch.train.samples, 26);
    EXPECT_EQ(epoch.test.samples, 11);
    EXPECT_GT(epoch.train.loss, 0);
    EXPECT_TRUE(std::isfinite(epoch.test.loss));
  }
  for (const Trained& worker : team) {
    EXPECT_EQ(worker.parameters, team[0].parameters);
    for (const StragglerRecord& straggler : worker.memory.stragglers) EXPECT_LT(straggler.slowness, 1e6) << "rank " << straggler.rank;
  }
  if (GetParam().is_exact) {
    EXPECT_LT(distance(team[0].parameters, cluster.alone().parameters), 1e-4);
  }
}

}  // namespace
}  // namespace trireme::train
