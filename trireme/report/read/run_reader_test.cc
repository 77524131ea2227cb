// SPDX-License-Identifier: Apache-2.0
// Tests of reading runs: whole ones, growing ones, and those that were cut short, resumed, rolled back or switched.
#include "trireme/report/read/run_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "trireme/base/json.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/report/testing/made_run.h"

namespace trireme::report {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kStart = 1'700'000'000;

TEST(RunReader, ReadsARunFromItsBeginningToItsEnd) {
  const MadeRun run;
  run.begin(kStart);
  run.steps(1, 10, kStart + 5);
  run.epoch(kStart + 7, 1, 0.6);
  run.steps(11, 20, kStart + 8);
  run.epoch(kStart + 10, 2, 0.8);
  run.end(kStart + 11);

  const RunDocument document = read_run(run.path());
  EXPECT_EQ(document.run.state, "completed");
  EXPECT_EQ(document.run.model, "mlp");
  EXPECT_EQ(document.run.strategy, "local");
  EXPECT_EQ(document.run.setting("train.batch_size"), "8");
  EXPECT_EQ(document.run.config.front().origin, "job.toml:3");
  EXPECT_EQ(document.progress.step, 20);
  EXPECT_EQ(document.progress.fraction, 1);
  EXPECT_EQ(document.result.measured_on, "validation");
  EXPECT_DOUBLE_EQ(document.result.accuracy, 0.7);
  EXPECT_DOUBLE_EQ(document.result.penalty, 0.25);
  EXPECT_NEAR(document.result.seconds, 5, 1e-5);
  EXPECT_EQ(document.result.updates_per_epoch, 10);
  EXPECT_THAT(document.epochs.at("training_accuracy"), ElementsAre(0.6, 0.8));
  EXPECT_THAT(document.steps.at("step"), SizeIs(20));
  EXPECT_NEAR(document.steps.at("samples_per_second").front(), 80, 1e-9);
}

// Half of the samples in one update, half of the rate: the weights move as far for each sample, before and after a switch.
TEST(RunReader, ALearningRateForEachSampleDoesNotDependOnTheSizeOfUpdates) {
  const MadeRun run;
  run.begin(kStart);
  run.steps(1, 10, kStart);
  for (std::int64_t push = 11; push <= 30; ++push)
    run.journal(kStart + 2, "step",
                {{"step", push},
                 {"epoch", std::int64_t{2}},
                 {"samples_seen", 80 + 4 * (push - 10)},
                 {"samples", std::int64_t{4}},
                 {"learning_rate", 0.05},
                 {"worker", std::int64_t{1}},
                 {"seconds", 0.1}});
  run.epoch(kStart + 10, 2, 0.8);
  const Result result = read_run(run.path()).result;
  EXPECT_DOUBLE_EQ(result.highest_rate, 0.1);
  EXPECT_NEAR(result.rate_per_sample, 0.1 / 8, 1e-12);
}

TEST(RunReader, ARunThatNoProcessTrainsAnyMoreHasDied) {
  const MadeRun run;
  run.begin(kStart);
  run.steps(1, 3, kStart);
  EXPECT_EQ(read_run(run.path()).run.state, "died");
  const int fd = ::open((run.path() / "lock").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  const RunDocument document = read_run(run.path());
  EXPECT_EQ(document.run.state, "running");
  EXPECT_NEAR(document.progress.samples_per_second, 80, 1);
  EXPECT_NEAR(document.progress.seconds_left, (160 - 24) / 80.0, 0.1);
  ::close(fd);
}

TEST(RunReader, EachLookReadsOnlyWhatWasAdded) {
  const MadeRun run;
  run.begin(kStart);
  run.steps(1, 5, kStart);
  RunReader reader(run.path());
  reader.look();
  EXPECT_EQ(reader.document().progress.step, 5);
  run.append("journal.jsonl", R"({"type":"step","time":1700000001.0,"st)");
  reader.look();
  EXPECT_EQ(reader.document().progress.step, 5);
  run.append("journal.jsonl", R"(ep":6,"epoch":1,"samples_seen":48,"samples":8,"seconds":0.1})"
                              "\n");
  reader.look();
  EXPECT_EQ(reader.document().progress.step, 6);
  EXPECT_THAT(reader.document().steps.at("step"), ElementsAre(1, 2, 3, 4, 5, 6));
  reader.look();
  EXPECT_THAT(reader.document().steps.at("step"), SizeIs(6));
}

TEST(RunReader, AfterAResumptionTheLaterRecordOfAStepCounts) {
  const MadeRun run;
  run.begin(kStart);
  run.steps(1, 12, kStart, 9);
  run.epoch(kStart + 1.05, 1, 0.3);
  run.journal(kStart + 101.2, "resume", {{"step", std::int64_t{6}}, {"epoch", std::int64_t{1}}, {"samples_seen", std::int64_t{48}}});
  run.steps(7, 10, kStart + 110, 2);
  run.epoch(kStart + 111, 1, 0.5);

  const RunDocument document = read_run(run.path());
  EXPECT_THAT(document.steps.at("step"), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_THAT(document.steps.at("loss"), ElementsAre(9, 9, 9, 9, 9, 9, 2, 2, 2, 2));
  EXPECT_THAT(document.epochs.at("training_accuracy"), ElementsAre(0.5));
  EXPECT_EQ(document.progress.step, 10);
  EXPECT_NEAR(document.result.interrupted_seconds, 100, 0.2);
  EXPECT_NEAR(document.result.seconds, 11, 0.2);
  EXPECT_THAT(document.warnings, ElementsAre(HasSubstr("interrupted for 100 s")));
}

TEST(RunReader, ResourcesAreThoseOfTheRunsOwnWindow) {
  const MadeRun run;
  run.begin(kStart);
  for (int second = -5; second <= 0; ++second) run.machine(kStart + second, "lab1", 0.9, 900);  // compiling
  run.steps(1, 20, kStart);
  for (int second = 1; second <= 2; ++second) run.machine(kStart + second, "lab1", 0.3 + 0.1 * second, 100 * second);
  for (int second = 3; second <= 60; ++second) run.machine(kStart + second, "lab1", 0.0, 1);  // the final test, and after it
  run.end(kStart + 60);

  const RunDocument document = read_run(run.path());
  ASSERT_THAT(document.machines, SizeIs(1));
  const Extent cpu = *find(document.machines[0].summary, "cpu");
  EXPECT_DOUBLE_EQ(cpu.min, 0.5);
  EXPECT_DOUBLE_EQ(cpu.mean, 0.55);
  EXPECT_DOUBLE_EQ(cpu.max, 0.6);
  EXPECT_EQ(find(document.machines[0].summary, "memory")->max, 200);
  EXPECT_EQ(find(document.machines[0].summary, "network_out")->mean, 2000);
  EXPECT_EQ(find(document.machines[0].summary, "temperature"), nullptr);
  EXPECT_THAT(document.machines[0].series.at("time"), SizeIs(66));
  EXPECT_THAT(document.machines[0].series.at("temperature"), IsEmpty());
}

TEST(RunReader, TelemetryThatIsAheadOfTheJournalWaitsForIt) {
  const MadeRun run;
  run.begin(kStart);
  run.machine(kStart + 1, "lab1", 0.5, 10);
  RunReader reader(run.path());
  reader.look();
  EXPECT_TRUE(std::isnan(mean_of(reader.document().machines[0].summary, "cpu")));
  run.steps(1, 20, kStart);
  reader.look();
  EXPECT_DOUBLE_EQ(mean_of(reader.document().machines[0].summary, "cpu"), 0.6);
}

TEST(RunReader, TheClusterIsWeightedByCoresAndSummed) {
  const MadeRun run;
  run.begin(kStart);
  run.machine(kStart - 3, "lab1", 0.1, 50, true);
  run.machine(kStart - 3, "lab2", 0.0, 60, true);
  run.steps(1, 40, kStart);
  for (int second = 1; second <= 3; ++second) {
    run.machine(kStart + second, "lab1", 0.8, 100);
    run.machine(kStart + second + 0.1, "lab2", 0.4, 200);
  }
  RunDocument document = read_run(run.path());
  EXPECT_DOUBLE_EQ(mean_of(document.cluster.summary, "cpu"), (0.9 * 1 + 0.5 * 3) / 4);
  EXPECT_DOUBLE_EQ(mean_of(document.cluster.summary, "memory"), 300);
  EXPECT_DOUBLE_EQ(mean_of(document.cluster.summary, "network_in"), 2000);
  ASSERT_TRUE(document.cluster.baseline.has_value());
  EXPECT_DOUBLE_EQ(document.cluster.baseline->memory, 110);
  EXPECT_DOUBLE_EQ(document.cluster.baseline->cpu, (0.2 * 1 + 0.1 * 3) / 4);
  EXPECT_EQ(document.cluster.cores, 4);

  subtract_baseline(document);
  EXPECT_DOUBLE_EQ(mean_of(document.cluster.summary, "memory"), 190);
  EXPECT_DOUBLE_EQ(mean_of(document.machines[0].summary, "cpu"), 0.7);
  EXPECT_EQ(mean_of(document.machines[0].summary, "network_in"), 0);
}

TEST(RunReader, AnatomyComesFromTheTablesOfStepsWithTheirSpread) {
  const MadeRun run;
  run.begin(kStart, 2, "allreduce");
  run.steps(1, 10, kStart);
  run.node(kStart + 1, "0");
  RunDocument document = read_run(run.path());
  EXPECT_EQ(document.anatomy.steps, 10);
  EXPECT_DOUBLE_EQ(document.anatomy.seconds("forward"), 0.02);
  EXPECT_TRUE(std::isnan(document.anatomy.parts.front().spread));
  EXPECT_DOUBLE_EQ(document.nodes[0].cores_used, 0.8);
  EXPECT_DOUBLE_EQ(document.nodes[0].samples_per_second, 40);

  run.append("steps/0.csv",
             "step,epoch,start,seconds,samples,input_wait_seconds,forward_seconds,backward_seconds,exposed_seconds,optimizer_seconds,"
             "idle_seconds,read_seconds,decode_seconds,exchange_seconds,bytes_sent,bytes_received,staleness\n"
             "1,1,0,9,4,9,0,0,0,0,0,0,0,0,0,0,0\n"
             "2,1,0,0.1,4,0,0.04,0.06,0,0,0,0.2,0,0,10,10,0\n"
             "3,1,0,0.3,4,0,0.04,0.26,0,0,0,0.2,0,0,10,10,0\n"
             "4,1,0,0.3,4,0,0.0");
  document = read_run(run.path());
  EXPECT_EQ(document.anatomy.steps, 2) << "the first step and half a line don't count";
  EXPECT_DOUBLE_EQ(document.anatomy.step_seconds, 0.2);
  EXPECT_DOUBLE_EQ(document.anatomy.share("backward"), 0.8);
  EXPECT_THAT(document.anatomy.parts[2].spread, DoubleNear(0.1414, 1e-4));
  EXPECT_DOUBLE_EQ(document.anatomy.share("read"), 1);
}

TEST(RunReader, WithoutTelemetryTheFirstWorkersOwnTimesAreTheAnatomy) {
  const MadeRun run;
  run.begin(kStart);
  run.steps(1, 11, kStart);
  const RunDocument document = read_run(run.path());
  EXPECT_EQ(document.anatomy.steps, 10);
  EXPECT_NEAR(document.anatomy.share("compute"), 0.6, 1e-9);
  EXPECT_NEAR(document.anatomy.seconds("exchange"), 0.05, 1e-9);
  EXPECT_THAT(document.nodes, IsEmpty());
}

// As Trireme wrote it before journals had versions: `exchange_seconds` was the exposed exchange, and parts had no unit in their names.
TEST(RunReader, ARunOfVersion1IsReadUnderTodaysNames) {
  const MadeRun run;
  std::string lines = R"({"type":"run","time":1000.0,"trireme":"0.1.0","model":"mlp","data":"digits","samples":80,"epochs":2,"workers":2}
)";
  for (int step = 1; step <= 3; ++step)
    lines += fmt::format(R"({{"type":"step","time":{}.0,"step":{},"epoch":1,"samples_seen":{},"samples":8,"loss":1.5,"accuracy":0.5,)"
                         R"("learning_rate":0.1,"seconds":0.1,"wait_seconds":0.01,"compute_seconds":0.06,"exchange_seconds":0.02,)"
                         R"("hidden_seconds":0.03,"optimizer_seconds":0.005}})"
                         "\n",
                         1000 + step, step, 8 * step);
  run.append("journal.jsonl", lines);
  RunDocument document = read_run(run.path());
  EXPECT_EQ(document.anatomy.steps, 2);
  EXPECT_NEAR(document.anatomy.seconds("input_wait"), 0.01, 1e-9);
  EXPECT_NEAR(document.anatomy.seconds("exposed"), 0.02, 1e-9);
  EXPECT_NEAR(document.anatomy.seconds("exchange"), 0.05, 1e-9) << "exposed and hidden";
  EXPECT_NEAR(document.anatomy.seconds("idle"), 0.005, 1e-9);

  run.append("telemetry.jsonl",
             R"({"type":"node","time":1003.0,"node":"0","host":"lab1","rank":0,"duty":"worker","steps":10,"samples":40,"seconds":1.0,)"
             R"("input_wait":0.05,"forward":0.2,"backward":0.5,"exchange_exposed":0.2,"optimizer":0.04,"idle":0.01,"read":0.2,)"
             R"("decode":0.1,"exchange":0.4})"
             "\n");
  document = read_run(run.path());
  EXPECT_NEAR(document.anatomy.seconds("exposed"), 0.02, 1e-9);
  EXPECT_NEAR(document.anatomy.seconds("exchange"), 0.04, 1e-9);
  EXPECT_NEAR(document.anatomy.seconds("read"), 0.02, 1e-9);

  run.append("steps/0.csv",
             "step,epoch,start,seconds,samples,input_wait,forward,backward,exchange_exposed,optimizer,idle,read,decode,exchange,bytes_sent,"
             "bytes_received,staleness\n"
             "1,1,0,9,4,9,0,0,0,0,0,0,0,0,0,0,0\n"
             "2,1,0,0.1,4,0.01,0.02,0.03,0.04,0,0,0.2,0.3,0.08,10,10,0\n");
  document = read_run(run.path());
  EXPECT_EQ(document.anatomy.steps, 1);
  EXPECT_NEAR(document.anatomy.seconds("exposed"), 0.04, 1e-9);
  EXPECT_NEAR(document.anatomy.seconds("exchange"), 0.08, 1e-9);
}

TEST(RunReader, ARunOfANewerVersionIsRefusedInWords) {
  const MadeRun run;
  run.journal(kStart, "run", {{"trireme", "9.0.0"}, {"journal", std::int64_t{99}}});
  EXPECT_THAT(thrown_error([&] { read_run(run.path()); }), AllOf(HasSubstr("version 99"), HasSubstr("a newer one")));
}

TEST(RunReader, ALongRunStaysBounded) {
  const MadeRun run;
  run.begin(kStart);
  std::string lines;
  for (int step = 1; step <= 20'000; ++step)
    lines += R"({"type":"step","time":)" + std::to_string(kStart + step) + R"(,"step":)" + std::to_string(step) +
             R"(,"loss":2.0,"samples":8,"seconds":1.0})"
             "\n";
  run.append("journal.jsonl", lines);
  const RunDocument document = read_run(run.path());
  const std::vector<double>& steps = document.steps.at("step");
  EXPECT_LE(steps.size(), 600U);
  EXPECT_GE(steps.size(), 250U);
  EXPECT_EQ(steps.front(), 1);
  EXPECT_EQ(steps.back(), 20'000);
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  EXPECT_THAT(document.steps.at("loss"), testing::Each(2.0));
}

TEST(RunReader, DamagedLinesArePassedOverAndCounted) {
  const MadeRun run;
  run.begin(kStart);
  run.append("journal.jsonl", "[1, 2]\n{\"type\":\"st\n\n");
  run.steps(1, 2, kStart);
  const RunDocument document = read_run(run.path());
  EXPECT_EQ(document.progress.step, 2);
  EXPECT_THAT(document.warnings, ElementsAre(HasSubstr("1 lines")));
}

TEST(RunReader, AnEmptyRunHasADocumentOfUnknowns) {
  const MadeRun run;
  const auto json = parse_json(to_json(read_run(run.path())));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["run"]["state"], "died");
  EXPECT_TRUE(json["run"]["parameters"].is_null());
  EXPECT_TRUE(json["result"]["accuracy"].is_null());
  EXPECT_TRUE(json["machines"].empty());
  EXPECT_TRUE(json["ops"].is_null());
  EXPECT_THAT(thrown_error([&] { read_run(run.path() / "steps"); }), HasSubstr("is no run"));
}

}  // namespace
}  // namespace trireme::report
