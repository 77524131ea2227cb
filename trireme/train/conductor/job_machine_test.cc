// SPDX-License-Identifier: Apache-2.0
// Jobs from a list of events: which actions come out, in which order.
#include "trireme/train/conductor/job_machine.h"

#include <gmock/gmock.h>

#include "trireme/train/testing/job_script.h"

namespace trireme::train {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

JobOptions three_nodes() {
  JobOptions out;
  out.nodes = {"0", "1", "2"};
  out.startable = {"0", "1", "2"};
  out.plan = parse_plan("allreduce");
  return out;
}

// Started from here, joined, ready, entered, and what it resumes with acknowledged.
JobScript& enter_first_generation(JobScript& job) {
  job.tick(Seconds(0));
  for (const char* node : {"0", "1", "2"}) job.join(node);
  job.tick();
  job.feed(job.report("0", Entered{}));
  job.tick();
  return job;
}

TEST(JobMachine, ALostNodeIsLeftOutStartedAgainAndTakenBack) {
  JobScript job(three_nodes());
  EXPECT_THAT(job.tick(Seconds(0)), ElementsAre("start 0", "start 1", "start 2"));
  for (const char* node : {"0", "1", "2"})
    EXPECT_THAT(job.feed({NodeJoined{node, {.host = "lab"}}, NodeReady{node}}), ElementsAre("event hello"));
  EXPECT_THAT(job.tick(), ElementsAre("announce generation 1 of nodes 0 1 2, recorded to step 0"));
  EXPECT_EQ(job.phase(), JobPhase::entering);
  EXPECT_THAT(job.feed(job.report("0", Entered{})), IsEmpty()) << "that a job begins is no event to report";
  EXPECT_EQ(job.phase(), JobPhase::training);
  EXPECT_THAT(job.feed({StepRecord{.step = 1}, StepRecord{.step = 2}, StepRecord{.step = 2}}),
              ElementsAre("observe step 1", "observe step 2"));
  EXPECT_THAT(job.tick(Seconds(1)), ElementsAre("acknowledge step 2 to 0 1 2"));

  EXPECT_THAT(job.feed(NodeLost{"1", "connection closed", {.step = 3, .phase = "exchange"}}), ElementsAre("event lost"));
  EXPECT_THAT(job.feed(NodeExit{.node = "1", .how = "killed by SIGKILL"}), ElementsAre("dismiss 1"));
  EXPECT_EQ(job.phase(), JobPhase::recovering);
  EXPECT_THAT(job.tick(), IsEmpty()) << "others may have died at the same time";
  EXPECT_THAT(job.tick(Seconds(0.3)), ElementsAre("say: rank 1 on lab ended in step 3 (exchange): killed by SIGKILL", "record lost",
                                                  "announce generation 2 of nodes 0 2, recorded to step 2"));
  EXPECT_THAT(job.feed(job.report("0", Entered{{.step = 2}})), ElementsAre("say: generation 2: 2 nodes go on after step 2"));

  EXPECT_THAT(job.tick(Seconds(1)), ElementsAre("say: starting node 1 again (failure 1 in a row)", "event relaunch", "start 1"));
  job.join("1");
  EXPECT_THAT(job.tick(), ElementsAre("request regroup of 0"));
  EXPECT_EQ(job.phase(), JobPhase::pausing);
  EXPECT_THAT(job.feed(job.report("0", Paused{{.step = 3}})), ElementsAre("announce generation 3 of nodes 0 1 2, recorded to step 2"));
  EXPECT_THAT(job.feed(job.report("0", Entered{{.step = 3}})), ElementsAre("say: generation 3: 3 nodes go on after step 3"));

  EXPECT_THAT(job.feed(job.report("0", Finish{.cursor = {.step = 4}, .test = {.samples = 10}})),
              ElementsAre("observe test", "dismiss all"));
  EXPECT_THAT(job.feed(NodeLeft{"0"}), ElementsAre("event left"));
  EXPECT_THAT(job.tick(JobScript::kTick, 2), IsEmpty());
  EXPECT_THAT(job.tick(JobScript::kTick, 0), ElementsAre("complete: completed"));
  EXPECT_EQ(job.phase(), JobPhase::finished);
}

TEST(JobMachine, AnErrorThatAllMembersReportIsTheJobs) {
  JobScript job(three_nodes());
  enter_first_generation(job);
  for (const char* node : {"0", "1", "2"})
    EXPECT_THAT(job.feed(NodeFailed{node, 1, {.code = data_loss, .text = "bad shard"}, {}}), ElementsAre(std::string("dismiss ") + node));
  const std::vector<std::string> actions = job.tick(Seconds(0.31));
  EXPECT_EQ(actions.back(), "fail: rank 0 on host0 failed: bad shard");
  EXPECT_EQ(job.phase(), JobPhase::failed);
}

TEST(JobMachine, WithTooFewNodesTheRemainingOnesWriteWhatTheyHaveAndEnd) {
  JobOptions options = three_nodes();
  options.min_nodes = 3;
  options.startable = {};
  JobScript job(options);
  enter_first_generation(job);
  job.feed(NodeLost{"2", "connection closed", {}});
  EXPECT_THAT(job.tick(Seconds(0.31)), ElementsAre("say: rank 2 on host2 is lost: connection closed", "record lost",
                                                   "say: 2 nodes of at least 3 here: waiting for more"));
  EXPECT_THAT(job.tick(Seconds(119)), IsEmpty());
  EXPECT_THAT(job.tick(Seconds(2)), ElementsAre("announce generation 2 of nodes 0 1, recorded to step 0"));
  job.feed(job.report("0", Entered{}));
  EXPECT_THAT(job.tick(), ElementsAre("request stop of 0"));
  job.feed(job.report("0", Finish{.interrupted = true}));
  EXPECT_THAT(job.tick(Seconds(10)), ElementsAre("complete: quorum_lost"));
}

TEST(JobMachine, AStopWhileNodesGatherEndsTheJobWithoutAGeneration) {
  JobScript job(three_nodes());
  job.join("0");
  job.feed(StopRequested{});
  EXPECT_THAT(job.tick(), ElementsAre("dismiss all"));
  EXPECT_THAT(job.tick(JobScript::kTick, 0), ElementsAre("complete: interrupted"));
}

TEST(JobMachine, APeerThatCannotBeReachedTwiceIsLeftOutForAWhile) {
  JobScript job(three_nodes());
  enter_first_generation(job);
  const NodeFailed report{"0", 1, {.code = unavailable, .text = "reset", .blames_peer = true, .peer = 1}, {}};
  EXPECT_THAT(job.feed(report), IsEmpty());
  EXPECT_THAT(job.tick(Seconds(5.9)), IsEmpty()) << "if it is dead, that is known by then";
  EXPECT_THAT(job.tick(Seconds(0.2)), ElementsAre("say: rank 0 on host0 misses rank 1 on host1, but both are here (reset): trying again",
                                                  "announce generation 2 of nodes 0 1 2, recorded to step 0"));
  EXPECT_THAT(job.feed(report), IsEmpty());
  EXPECT_EQ(job.phase(), JobPhase::entering) << "a rank of another generation is another node";
  NodeFailed again = report;
  again.generation = 2;
  job.feed(again);
  EXPECT_THAT(job.tick(Seconds(6.1)), ElementsAre("say: rank 0 on host0 misses rank 1 on host1, but both are here (reset): trying again "
                                                  "without rank 1 on host1 for a while",
                                                  "announce generation 3 of nodes 0 2, recorded to step 0"));
}

}  // namespace
}  // namespace trireme::train
