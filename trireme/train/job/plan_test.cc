// SPDX-License-Identifier: Apache-2.0
// Plans: where phases begin, how they are written, what is refused.
#include "trireme/train/job/plan.h"

#include <gmock/gmock.h>

#include <limits>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/train/testing/job.h"

namespace trireme::train {
namespace {

using testing::HasSubstr;

constexpr PlanSpan kSpan{.samples_per_epoch = 330, .epochs = 9, .batch_size = 64};

StrategyRequest request(const std::string& toml) { return strategy_request(Config::parse_toml(toml, "job.toml")); }
Plan plan(const std::string& toml) { return plan_of(request(toml), kSpan); }

TEST(StrategyText, SaysWhatDiffersFromWhatIsUsual) {
  for (const std::string text : {"allreduce", "ps:async", "ps:bsp", "ps:ssp:4", "local_sgd:8", "ps:async,servers=2,placement=dedicated",
                                 "allreduce,overlap=false,algorithm=ring", "ps:async,damp_staleness=true"})
    EXPECT_EQ(text_of(parse_strategy(text, "a test")), text);
  EXPECT_EQ(text_of(parse_strategy("ps", "a test")), "ps:async");
  EXPECT_EQ(text_of(parse_strategy("ps:ssp,staleness=4", "a test")), "ps:ssp:4");
  EXPECT_EQ(text_of(parse_strategy(" ps : bsp , servers=1", "a test")), "ps:bsp,servers=1");
}

TEST(StrategyText, RefusesWhatItDoesNotUnderstand) {
  const auto refusal = [](const std::string& text) { return thrown_error([&] { parse_team_strategy(text, "--to"); }); };
  EXPECT_THAT(refusal("pss"), HasSubstr("did you mean 'ps'"));
  EXPECT_THAT(refusal("ps:asnc"), HasSubstr("must be one of async, bsp, ssp, dssp"));
  EXPECT_THAT(refusal("ps:ssp:4:5"), HasSubstr("2 at most"));
  EXPECT_THAT(refusal("allreduce:ring"), HasSubstr("nothing after its name"));
  EXPECT_THAT(refusal("ps:async,serves=2"), HasSubstr("did you mean 'servers'"));
  EXPECT_THAT(refusal("ps:async,servers"), HasSubstr("write key=value"));
  EXPECT_THAT(refusal("switch"), HasSubstr("made of other strategies"));
  EXPECT_THAT(refusal("local"), HasSubstr("one node alone"));
  EXPECT_THAT(refusal(""), HasSubstr("no strategy ''"));
}

TEST(Plan, AFractionIsOfAllSamplesAndANumberFromOneOnOfEpochs) {
  EXPECT_EQ(point_of("0.5", kSpan, ""), 1485 + (1485 % 330 == 165 ? 27 : 0));  // 4 epochs and 165 samples: up to 3 batches of 64
  EXPECT_EQ(point_of("3", kSpan, ""), 990);
  EXPECT_EQ(point_of("1", kSpan, ""), 330);
  EXPECT_EQ(point_of("2.99", kSpan, ""), 990);  // 326 samples of an epoch: only its last, short batch is left
  EXPECT_EQ(point_of("100 samples", kSpan, ""), 100);
  for (const std::string text : {"0", "-1", "", "half", "0.5x", "nan", "inf", "samples"})
    EXPECT_THAT(thrown_error([&] { point_of(text, kSpan, "--until"); }), HasSubstr("is no point in a training")) << text;
}

TEST(Plan, APlainJobHasOnePhase) {
  const Plan one = plan("name = 'ps'\nservers = 2");
  ASSERT_EQ(one.phases.size(), 1U);
  EXPECT_EQ(text_of(one), "ps:async,servers=2,placement=dedicated");
  EXPECT_EQ(one.next_stop(0), std::numeric_limits<std::int64_t>::max());
}

TEST(Plan, ASwitchIsAScheduleOfTwo) {
  EXPECT_EQ(text_of(plan("name = 'switch'\nat = 3")), "allreduce; ps:async at 990 samples");
  EXPECT_EQ(text_of(plan("name = 'switch'\nfrom = 'ps:bsp'\nto = 'local_sgd:2'\nat = 0.5\nslots = 'reset'")),
            "ps:bsp; local_sgd:2 at 1512 samples reset");
  EXPECT_EQ(text_of(plan("name = 'switch'\nat = 'auto'")), "allreduce");
  const Plan three = plan("name = 'switch'\nschedule = ['allreduce', 'ps:bsp at 0.25', 'allreduce at 6']");
  EXPECT_EQ(three.phase_at(0), 0U);
  EXPECT_EQ(three.phase_at(three.phases[1].begin - 1), 0U);
  EXPECT_EQ(three.phase_at(three.phases[1].begin), 1U);
  EXPECT_EQ(three.next_stop(0), three.phases[1].begin);
  EXPECT_EQ(three.next_stop(three.phases[1].begin), 1980);
}

TEST(Plan, ItsTextIsReadBack) {
  for (const std::string text :
       {"allreduce", "allreduce; ps:async at 990 samples; local_sgd:4 at 1000 samples reset; allreduce at 1200 samples"})
    EXPECT_EQ(text_of(parse_plan(text)), text);
}

TEST(Plan, MistakesOfTheJobAreReportedBeforeAnythingStarts) {
  const auto refusal = [](const std::string& toml) { return thrown_error([&] { plan("name = 'switch'\n" + toml); }); };
  EXPECT_THAT(refusal("at = 9"), HasSubstr("would begin after 2970 samples, and the training has 2970"));
  EXPECT_THAT(refusal("at = 0"), HasSubstr("is no point in a training"));
  EXPECT_THAT(refusal("at = 'late'"), HasSubstr("is no point in a training"));
  EXPECT_THAT(refusal("to = 'switch'"), HasSubstr("made of other strategies"));
  EXPECT_THAT(refusal("to = 'local'"), HasSubstr("one node alone"));
  EXPECT_THAT(refusal("schedule = ['allreduce', 'ps:bsp']"), HasSubstr("say when it begins"));
  EXPECT_THAT(refusal("schedule = ['allreduce at 2', 'ps:bsp at 3']"), HasSubstr("leave out its point"));
  EXPECT_THAT(refusal("schedule = ['allreduce', 'ps:bsp at 3', 'allreduce at 2']"), HasSubstr("does not begin later"));
  EXPECT_THAT(refusal("sync_batch_norm = true"), HasSubstr("needs workers in step"));
  EXPECT_THAT(thrown_error([] { request("name = 'ps'\nsync_batch_norm = true"); }), HasSubstr("needs workers in step"));
  EXPECT_THAT(thrown_error([] { request("name = 'local_sgd'\nsync_batch_norm = true"); }), HasSubstr("needs workers in step"));
}

TEST(Plan, AChangeByHandReplacesWhatWasPlannedForLater) {
  Plan changed = plan("name = 'switch'\nat = 3");
  changed.change(500, parse_strategy("local_sgd:4", ""), false, "by hand");
  EXPECT_EQ(text_of(changed), "allreduce; local_sgd:4 at 500 samples");
  changed.change(600, parse_strategy("local_sgd:4", ""), false, "by hand");
  EXPECT_EQ(text_of(changed), "allreduce; local_sgd:4 at 500 samples");
  changed.change(0, parse_strategy("ps:bsp", ""), false, "by hand");
  EXPECT_EQ(text_of(changed), "ps:bsp");
}

TEST(Plan, ItEndsWhereItWasSetTo) {
  Plan some = plan("name = 'switch'\nat = 3");
  some.until = 640;
  EXPECT_EQ(some.next_stop(0), 640);
  EXPECT_FALSE(some.ends_at(639));
  EXPECT_TRUE(some.ends_at(640));
  EXPECT_EQ(some.next_stop(640), 990);
}

}  // namespace
}  // namespace trireme::train
