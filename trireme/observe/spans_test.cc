// SPDX-License-Identifier: Apache-2.0
// Spans: bounded, honest about what was dropped, and with the same number at both ends of a message.
#include "trireme/observe/spans.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace trireme::observe {
namespace {

TEST(Spans, AreKeptWithTheirTexts) {
  Spans spans;
  {
    std::string name = "step 12";
    spans.add({.name = name, .category = "step", .track = "training", .begin = 1, .end = 3, .sends = 7, .step = 12, .bytes = 5});
    name = "nothing";
  }
  const Spans::Taken taken = spans.take();
  ASSERT_EQ(taken.spans.size(), 1U);
  EXPECT_EQ(taken.spans[0].name, "step 12");
  EXPECT_EQ(taken.spans[0].track, "training");
  EXPECT_EQ(taken.spans[0].end, 3);
  EXPECT_EQ(taken.spans[0].sends, 7U);
  EXPECT_EQ(taken.spans[0].bytes, 5);
  EXPECT_TRUE(spans.is_empty());
}

TEST(Spans, LeaveRoomForOthersBesideOps) {
  Spans spans(100);
  for (int i = 0; i < 500; ++i) spans.add({.name = "conv", .is_op = true});
  for (int i = 0; i < 20; ++i) spans.add({.name = "step"});
  const Spans::Taken taken = spans.take();
  EXPECT_EQ(taken.spans.size(), 95U);
  EXPECT_EQ(taken.dropped, 425);
  spans.add({.name = "conv", .is_op = true});
  EXPECT_EQ(spans.take().spans.size(), 1U);
}

TEST(Spans, MayComeFromSeveralThreads) {
  Spans spans;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&spans, thread] {
        for (int i = 0; i < 1000; ++i) spans.add({.name = "a", .track = std::to_string(thread)});
      });
  }
  EXPECT_EQ(spans.take().spans.size(), 4000U);
}

TEST(Spans, OfAScopeAreOnlyRecordedWhileOn) {
  Spans spans;
  { const SpanScope scope(&spans, "a", "b", "c"); }
  EXPECT_TRUE(spans.is_empty());
  spans.turn_on(true);
  { const SpanScope scope(&spans, "a", "b", "c"); }
  { const SpanScope scope(nullptr, "a", "b", "c"); }
  EXPECT_EQ(spans.take().spans.size(), 1U);
}

TEST(Flow, IsAnotherForEveryMessage) {
  std::set<std::uint64_t> flows;
  for (std::uint64_t generation = 1; generation < 4; ++generation)
    for (std::uint64_t from = 0; from < 4; ++from)
      for (std::uint64_t to = 0; to < 4; ++to)
        for (std::uint64_t sequence = 0; sequence < 100; ++sequence) flows.insert(flow_of("message", generation, from, to, sequence));
  EXPECT_EQ(flows.size(), 3U * 4 * 4 * 100);
}

}  // namespace
}  // namespace trireme::observe
