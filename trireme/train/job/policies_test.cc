// SPDX-License-Identifier: Apache-2.0
// What a job leaves to measurements, and what it must not.
#include "trireme/train/job/policies.h"

#include <gmock/gmock.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/train/testing/cluster.h"

namespace trireme::train {
namespace {

using testing::HasSubstr;

TEST(PoliciesOfAJob, AreNoneByDefault) {
  const Policies policies = policies_of(team_job({}));
  EXPECT_EQ(policies.straggler, StragglerPolicy::Rule::shares);
  EXPECT_FALSE(policies.second);
}

TEST(PoliciesOfAJob, AutoNamesTheSecondStrategy) {
  const Job job = team_job({"strategy.name=switch", "strategy.to=ps:ssp:7", "strategy.at=auto", "strategy.slots=reset"});
  const Policies policies = policies_of(job);
  ASSERT_TRUE(policies.second);
  EXPECT_EQ(text_of(*policies.second), "ps:ssp:7");
  EXPECT_TRUE(policies.resets_slots);
  EXPECT_EQ(policies.batch_size, 64);
  EXPECT_EQ(policies.epochs, 9);
  EXPECT_TRUE(is_automatic(job.strategy));
}

TEST(PoliciesOfAJob, AStragglerIsAvoidedByTheAsynchronousPartOfASwitch) {
  EXPECT_EQ(text_of(policies_of(team_job({"strategy.straggler=async"})).asynchronous), "ps:async");
  const Job job = team_job({"strategy.name=switch", "strategy.to=\"ps:async,wire=bf16\"", "strategy.at=0.5", "strategy.straggler=async"});
  EXPECT_EQ(text_of(policies_of(job).asynchronous), "ps:async,wire=bf16");
  const Job in_step = team_job({"strategy.name=switch", "strategy.to=ps:bsp", "strategy.at=0.5", "strategy.straggler=async"});
  EXPECT_EQ(text_of(policies_of(in_step).asynchronous), "ps:async");
}

TEST(PoliciesOfAJob, DoNotContradictEachOther) {
  EXPECT_THAT(thrown_error([] {
                team_job({"strategy.name=switch", "strategy.at=auto", "strategy.straggler=async"});
              }),
              HasSubstr("would decide the same"));
  EXPECT_THAT(thrown_error([] {
                team_job({"strategy.sync_batch_norm=true", "strategy.straggler=async"});
              }),
              HasSubstr("sync_batch_norm needs workers in step"));
}

TEST(PoliciesOfAJob, AStragglerHoldsNoParameters) {
  EXPECT_EQ(text_of(with_servers(parse_strategy("ps:async", ""), 2)), "ps:async,servers=2");
  EXPECT_EQ(text_of(with_servers(parse_strategy("ps:async,servers=1", ""), 2)), "ps:async,servers=1") << "the user has chosen";
  EXPECT_EQ(text_of(with_servers(parse_strategy("allreduce", ""), 2)), "allreduce");
}

TEST(PoliciesOfAJob, OnlyTheAsynchronousOneNeverWaits) {
  for (const char* text : {"allreduce", "local_sgd:4", "ps:bsp", "ps:ssp:7"})
    EXPECT_TRUE(waits_for_the_slowest(parse_strategy(text, ""))) << text;
  EXPECT_FALSE(waits_for_the_slowest(parse_strategy("ps:async", "")));
}

}  // namespace
}  // namespace trireme::train
