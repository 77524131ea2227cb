// SPDX-License-Identifier: Apache-2.0
// Tests of what happened in a run: skipped steps, rollbacks, lost nodes, refused records, switches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "trireme/report/read/run_reader.h"
#include "trireme/report/testing/made_run.h"

namespace trireme::report {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr double kStart = 1'700'000'000;

// Those of steps that are done again do not count twice.
TEST(RunReader, SkippedStepsAreCountedAndReported) {
  const MadeRun run;
  run.begin(kStart);
  run.steps(1, 3, kStart);
  const auto skip = [&](double time, std::int64_t step) {
    run.journal(time, "step",
                {{"step", step},
                 {"epoch", std::int64_t{1}},
                 {"samples_seen", 8 * step},
                 {"samples", std::int64_t{8}},
                 {"seconds", 0.1},
                 {"skipped", std::int64_t{1}},
                 {"faulty_ranks", "1"}});
  };
  skip(kStart + 1, 4);
  skip(kStart + 2, 5);
  run.journal(kStart + 3, "rollback", {{"step", std::int64_t{4}}, {"from", std::int64_t{5}}});
  skip(kStart + 4, 5);
  const RunDocument document = read_run(run.path());
  EXPECT_EQ(document.progress.skipped_steps, 2);
  const auto told = std::ranges::find(document.events, "skip", &Event::kind);
  ASSERT_NE(told, document.events.end());
  EXPECT_EQ(told->title, "step 4 skipped");
  EXPECT_EQ(told->detail, "loss or gradients of rank 1 were not finite");
}

TEST(RunReader, ARollbackAndALostNodeAreReported) {
  const MadeRun run;
  run.begin(kStart, 2, "allreduce");
  run.steps(1, 8, kStart);
  run.node(kStart + 0.5, "0");
  run.node(kStart + 0.5, "1");
  run.journal(kStart + 0.9, "lost",
              {{"node", "1"}, {"host", "lab2"}, {"step", std::int64_t{8}}, {"phase", "exchange"}, {"cause", "killed by SIGKILL"}});
  run.journal(kStart + 1, "rollback", {{"from", std::int64_t{8}}, {"step", std::int64_t{4}}});
  run.steps(5, 6, kStart + 30);
  run.node(kStart + 31, "0");

  const RunDocument document = read_run(run.path());
  EXPECT_THAT(document.steps.at("step"), ElementsAre(1, 2, 3, 4, 5, 6));
  ASSERT_THAT(document.nodes, SizeIs(2));
  EXPECT_EQ(document.nodes[0].state, "ended");
  EXPECT_EQ(document.nodes[1].state, "lost");
  std::vector<std::string> kinds;
  for (const Event& event : document.events) kinds.push_back(event.kind);
  EXPECT_THAT(kinds, ElementsAre("begun", "lost", "rollback"));
  EXPECT_EQ(document.events[1].detail, "killed by SIGKILL");
}

TEST(RunReader, WhatADiskRefusedIsReportedInWords) {
  const MadeRun run;
  run.begin(kStart, 2, "allreduce");
  run.steps(1, 4, kStart);
  const std::string error = "cannot write run/journal.jsonl: No space left on device";
  run.journal(kStart + 1, "checkpoint_failed", {{"step", std::int64_t{4}}, {"host", "lab2"}, {"error", error}, {"tries", std::int64_t{1}}});
  run.journal(kStart + 2, "disk_failure", {{"host", "lab2"}, {"file", "run/journal.jsonl"}, {"error", error}});
  run.journal(kStart + 3, "disk_recovered", {{"host", "lab2"}, {"seconds", 12.0}, {"lost", std::int64_t{7}}});

  const RunDocument document = read_run(run.path());
  std::vector<std::string> titles, details;
  for (const Event& event : document.events) {
    if (event.kind != "disk") continue;
    titles.push_back(event.title);
    details.push_back(event.detail);
  }
  EXPECT_THAT(titles, ElementsAre("a checkpoint could not be written on lab2", "the disk on lab2 refuses records",
                                  "records are written again, after 12 s"));
  EXPECT_THAT(details, ElementsAre(error, error, "7 are lost"));
}

TEST(RunReader, ASwitchChangesTheStrategyAndIsCounted) {
  const MadeRun run;
  run.begin(kStart, 2, "allreduce; ps:async at 40 samples");
  run.steps(1, 5, kStart);
  run.journal(kStart + 1, "switch",
              {{"step", std::int64_t{5}},
               {"from", "allreduce"},
               {"to", "ps:async"},
               {"why", "at 0.5"},
               {"workers", std::int64_t{2}},
               {"seconds", 0.25}});
  run.steps(6, 9, kStart + 2);
  const RunDocument document = read_run(run.path());
  EXPECT_EQ(document.run.strategy, "ps:async");
  EXPECT_EQ(document.result.switch_seconds, 0.25);
  ASSERT_THAT(document.stretches, SizeIs(2));
  EXPECT_EQ(document.stretches[0].steps, 5);
  EXPECT_EQ(document.stretches[1].steps, 4);
}

}  // namespace
}  // namespace trireme::report
