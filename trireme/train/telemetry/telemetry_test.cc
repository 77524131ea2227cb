// SPDX-License-Identifier: Apache-2.0
// Windows, rows and what becomes of them when no coordinator listens.
#include "trireme/train/telemetry/telemetry.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <sstream>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/observe/journal_reader.h"
#include "trireme/observe/number_table.h"
#include "trireme/observe/testing/described.h"
#include "trireme/train/telemetry/telemetry_recorder.h"

namespace trireme::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

observe::StepAnatomy step(std::int64_t number) {
  return {.step = number,
          .seconds = 0.5,
          .samples = 8,
          .forward_seconds = 0.25,
          .backward_seconds = 0.125,
          .idle_seconds = 0.125,
          .exchange_seconds = 0.75,
          .bytes_sent = 100};
}

// Filled from the telemetry's thread and from the test's.
struct Received {
  std::mutex mutex;
  std::vector<TelemetryReport> reports;
  bool is_away = false;
  std::atomic<double> clock_ahead = 0;
  TrafficCounter traffic;

  Telemetry::Options options() {
    return {
        .every = Seconds(1000),
        .send =
            [this](const TelemetryReport& report) {
              const std::lock_guard lock(mutex);
              if (is_away) throw Error{unavailable, "no coordinator is here"};
              reports.push_back(report);
            },
        .time = [this] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() + clock_ahead; },
        .traffic = traffic};
  }
};

std::vector<std::int64_t> numbers(const TelemetryReport& report) {
  std::vector<std::int64_t> out;
  for (const observe::StepAnatomy& each : report.steps) out.push_back(each.step);
  return out;
}

TEST(Telemetry, StepsAreReportedOnceAndAgainIfTheyWereNotReceived) {
  Received received;
  Telemetry telemetry(received.options());
  telemetry.takes_part({.rank = 2, .what = "worker", .generation = 7, .share = 0.25});
  telemetry.step(step(1));
  received.is_away = true;
  telemetry.flush();
  telemetry.step(step(2));
  received.is_away = false;
  telemetry.flush();
  telemetry.step(step(3));
  telemetry.flush();
  ASSERT_EQ(received.reports.size(), 2U);
  EXPECT_THAT(numbers(received.reports[0]), ElementsAre(1, 2));
  EXPECT_THAT(numbers(received.reports[1]), ElementsAre(3));
  EXPECT_EQ(received.reports[0].duty.generation, 7U);
}

// A training of three seconds would otherwise lack the bytes of its last fifth of a second.
TEST(Telemetry, TheLastWindowIsMeasuredHoweverShortlyAfterAnother) {
  Received received;
  Telemetry telemetry(received.options());
  telemetry.flush();
  telemetry.step(step(1));
  received.traffic.count_sent(1000);
  telemetry.flush();
  ASSERT_EQ(received.reports.size(), 2U);
  EXPECT_GE(received.reports[1].seconds, 0.15);
  EXPECT_EQ(received.reports[1].traffic.sent, 1000);
  EXPECT_GE(received.reports[1].machine.cores, 1);
}

// The clock is the machine's, which may be set back: the end of a training does not wait until it is as late again.
TEST(Telemetry, AWindowTooShortToMeasureHasStepsOnly) {
  Received received;
  Telemetry telemetry(received.options());
  received.clock_ahead = -100'000;
  telemetry.flush();
  EXPECT_TRUE(received.reports.empty()) << "there is nothing to report";
  telemetry.step(step(1));
  telemetry.flush();
  received.clock_ahead = 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  telemetry.flush();
  ASSERT_EQ(received.reports.size(), 2U);
  EXPECT_EQ(received.reports[0].seconds, 0);
  EXPECT_GE(received.reports[1].seconds, 0.3);
  EXPECT_GE(received.reports[1].machine.cores, 1);
}

TEST(Telemetry, AStepBeganBeforeItEnded) {
  Received received;
  Telemetry telemetry(received.options());
  const double now = received.options().time();
  telemetry.step(step(1));
  telemetry.flush();
  EXPECT_NEAR(received.reports.at(0).steps.at(0).start, now - 0.5, 0.4);
}

TEST(Telemetry, EveryFieldOfANodeIsKeptAndDocumented) {
  observe::expect_conforms<TelemetryReport>();
  observe::expect_documented<TelemetryReport>("### node:");
}

TEST(Telemetry, SurvivesTheWire) {
  TelemetryReport report{.time = 1794858640.5, .seconds = 1.25, .is_baseline = true};
  report.machine = {.cores = 4, .cpu_user = 0.5, .cpu_idle = 0.5, .network_in_bytes = 123456789012, .temperature = 51.5};
  report.duty = {.rank = 3, .what = "worker and server", .generation = 9, .share = 0.125};
  report.steps = {step(5)};
  const TelemetryReport back = unpack_telemetry(pack(report));
  EXPECT_EQ(back.time, report.time);
  EXPECT_TRUE(back.is_baseline);
  EXPECT_EQ(back.machine.network_in_bytes, 123456789012);
  EXPECT_EQ(back.machine.temperature, 51.5);
  EXPECT_FALSE(back.machine.energy_joules);
  EXPECT_EQ(back.duty.what, "worker and server");
  EXPECT_EQ(back.steps.at(0).exchange_seconds, 0.75);
  EXPECT_THROW(unpack_telemetry("\xff\xff"), Error);
}

class TelemetryFiles : public testing::Test {
 protected:
  TelemetryFiles() : run_(std::filesystem::path(testing::TempDir()) / ("trireme_telemetry_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(run_);
    make_directories(run_);
  }
  ~TelemetryFiles() override { std::filesystem::remove_all(run_); }

  static TelemetryReport at(double time, std::vector<observe::StepAnatomy> steps = {}) {
    TelemetryReport report{.time = time, .seconds = 1, .machine = {.cores = 2}};
    report.steps = std::move(steps);
    return report;
  }
  std::vector<observe::Record> records(const std::string& type) const {
    std::vector<observe::Record> out;
    for (observe::Record& record : observe::read_journal(run_ / "telemetry.jsonl"))
      if (record.type == type) out.push_back(std::move(record));
    return out;
  }

  std::filesystem::path run_;
};

TEST_F(TelemetryFiles, OneNodeReportsAMachineUntilItIsSilent) {
  {
    TelemetryRecorder recorder(run_);
    recorder.record("0", "lab1", at(10));
    recorder.record("1", "lab1", at(10.1));
    recorder.record("2", "lab2", at(10.2));
    recorder.record("1", "lab1", at(11.1));
    recorder.record("1", "lab1", at(13.1));  // the other one is gone
  }
  const auto machines = records("machine");
  ASSERT_EQ(machines.size(), 3U);
  EXPECT_EQ(machines[0].text("node"), "0");
  EXPECT_EQ(machines[1].text("host"), "lab2");
  EXPECT_EQ(machines[2].text("node"), "1");
  EXPECT_EQ(machines[2].time, 13.1);
  EXPECT_EQ(records("node").size(), 5U);
}

TEST_F(TelemetryFiles, ARunOfAnOlderVersionGoesOnUnderTodaysNames) {
  make_directories(run_ / "steps");
  write_file_atomically(run_ / "steps" / "0.csv", "step,seconds,exchange_exposed\n1,0.5,0.25\n");
  TelemetryRecorder(run_).record("0", "lab1", at(10, {step(2)}));
  observe::NumberTable table;
  std::istringstream lines(read_file(run_ / "steps" / "0.csv"));
  std::vector<double> exposed, exchange;
  for (std::string line; std::getline(lines, line);) {
    if (!table.take(line)) continue;
    exposed.push_back(table.cell("exposed_seconds"));
    exchange.push_back(table.cell("exchange_seconds"));
  }
  EXPECT_THAT(exposed, ElementsAre(0.25, 0));
  EXPECT_THAT(exchange, ElementsAre(testing::IsNan(), 0.75));
}

TEST_F(TelemetryFiles, ARunThatGoesOnAppendsItsSteps) {
  for (const std::int64_t number : {1, 2}) TelemetryRecorder(run_).record("0", "lab1", at(10, {step(number)}));
  const std::string rows = read_file(run_ / "steps" / "0.csv");
  EXPECT_EQ(std::ranges::count(rows, '\n'), 3) << rows;
  EXPECT_THAT(rows, HasSubstr("step,epoch,start,seconds,samples,input_wait_seconds"));
  EXPECT_THAT(rows, HasSubstr("\n2,1,0.000000,0.5,8,0,0.25,0.125,0,0,0.125,0,0,0.75,100,0,0\n"));
  EXPECT_EQ(records("node").back().real("forward_seconds"), 0.25);
}

}  // namespace
}  // namespace trireme::train
