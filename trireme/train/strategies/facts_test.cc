// SPDX-License-Identifier: Apache-2.0
// What entries state of their strategies, for reports: by text, and for every entry of the catalogue.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trireme/train/job/parameter_server_options.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/job/strategy_text.h"

namespace trireme::train {
namespace {

StrategyFacts facts(const std::string& text, std::int64_t parameters = 1000) {
  ParameterSpace space;
  space.add("weights", Shape{parameters});
  return facts_of(parse_strategy(text, "a test"), space);
}

TEST(StrategyFacts, AreStatedByEveryEntryThatIsNotMadeOfOthers) {
  for (const StrategyEntry& entry : strategies::catalog()) EXPECT_EQ(entry.facts == nullptr, entry.make == nullptr) << entry.name;
}

TEST(StrategyFacts, SayHowWorkersExchange) {
  EXPECT_EQ(facts("local").exchange, Exchange::none);
  EXPECT_EQ(facts("allreduce").exchange, Exchange::all_reduce);
  EXPECT_EQ(facts("local_sgd:4").exchange, Exchange::all_reduce);
  EXPECT_EQ(facts("local_sgd:4").steps_between, 4);
  EXPECT_EQ(facts("local_sgd").steps_between, 8);
  EXPECT_TRUE(facts("local_sgd").sends_slots);
  EXPECT_EQ(facts("ps").exchange, Exchange::servers);
  EXPECT_TRUE(facts("ps").servers_compute);
  EXPECT_FALSE(facts("ps:async,servers=2,placement=dedicated").servers_compute);
}

TEST(StrategyFacts, HalfTheBitsAreHalfTheBytes) {
  for (const std::string name : {"allreduce", "ps:async"}) {
    EXPECT_EQ(facts(name).bytes_per_value, 4) << name;
    EXPECT_EQ(facts(name + ",wire=bf16").bytes_per_value, 2) << name;
    EXPECT_EQ(facts(name + ",wire=f16").bytes_per_value, 2) << name;
  }
}

TEST(StrategyFacts, BucketsAreThoseOfTheExchange) {
  constexpr std::int64_t kMillion = 1 << 20;
  EXPECT_EQ(facts("allreduce").buckets, 1) << "a quarter of a megabyte at least";
  EXPECT_EQ(facts("allreduce", kMillion).buckets, 4);
  EXPECT_EQ(facts("allreduce,fusion_mb=0.5", kMillion).buckets, 8);
  EXPECT_TRUE(facts("allreduce", kMillion).has_overlap);
  EXPECT_EQ(facts("allreduce,overlap=false", kMillion).buckets, 1);
  EXPECT_FALSE(facts("allreduce,overlap=false", kMillion).has_overlap);
}

TEST(StrategyFacts, PushesThatAreSummedMakeOneUpdate) {
  for (const char* joint : {"ps:bsp", "ps:ssp:0", "ps:ssp:0,servers=1", "ps:bsp:5"}) EXPECT_TRUE(facts(joint).is_joint) << joint;
  for (const char* apart : {"ps:async", "ps:ssp", "ps:ssp:1", "ps:dssp", "ps:ssp:4"}) EXPECT_FALSE(facts(apart).is_joint) << apart;
  int joint = 0;
  for (const char* mode : {"async", "bsp", "ssp", "dssp"})
    for (const int staleness : {0, 1, 3, 10}) {
      const std::string text = fmt::format("ps:{}:{},servers=2", mode, staleness);
      const StrategyPart part = parse_strategy(text, "a test");
      const bool sums = rules_of(std::any_cast<const ParameterServerOptions&>(part.options)).sums();
      EXPECT_EQ(facts(text_of(part)).is_joint, sums) << text;
      joint += sums ? 1 : 0;
    }
  EXPECT_EQ(joint, 5) << "bsp whatever the bound, and ssp with a bound of 0";
}

TEST(StrategyKind, LeavesOutNumbersAndOptions) {
  const auto kind = [](const char* text) { return kind_of(parse_strategy(text, "a test")); };
  EXPECT_EQ(kind("allreduce,overlap=false"), "allreduce");
  EXPECT_EQ(kind("ps"), "ps:async");
  EXPECT_EQ(kind("ps:ssp:4,servers=2"), "ps:ssp");
  EXPECT_EQ(kind("local_sgd:4"), "local_sgd");
}

}  // namespace
}  // namespace trireme::train
