// SPDX-License-Identifier: Apache-2.0
// The text that Prometheus reads, line by line.
#include "trireme/report/write/metrics.h"

#include <gmock/gmock.h>

#include <regex>
#include <set>
#include <sstream>

namespace trireme::report {
namespace {

using testing::HasSubstr;
using testing::Not;

RunDocument example() {
  RunDocument d;
  d.run = {.name = "job-1", .job = "a \"quoted\" job", .model = "mlp", .state = "running"};
  d.progress = {.step = 12, .epoch = 2, .samples_seen = 768};
  d.nodes.push_back({.node = "0", .host = "lab1", .duty = "worker", .state = "training", .rank = 0, .steps = 10});
  d.nodes.back().anatomy = {.steps = 10, .parts = {{.name = "forward", .seconds = 0.25}}, .beside = {{.name = "exchange", .seconds = 0.5}}};
  d.events = {{.kind = "lost"}, {.kind = "lost"}, {.kind = "switch"}};
  return d;
}

TEST(Metrics, HaveValuesLabelsAndUnits) {
  const std::string text = to_metrics(example());
  EXPECT_THAT(text, HasSubstr("\ntrireme_steps_total 12\n"));
  EXPECT_THAT(text, HasSubstr("trireme_run_running 1\n"));
  EXPECT_THAT(text, HasSubstr(R"(job="a \"quoted\" job")"));
  EXPECT_THAT(text, HasSubstr(R"(trireme_step_phase_seconds_total{node="0",rank="0",host="lab1",duty="worker",phase="forward"} 2.5)"));
  EXPECT_THAT(text, HasSubstr(R"(trireme_step_overlapped_seconds_total{node="0",rank="0",host="lab1",duty="worker",work="exchange"} 5)"));
  EXPECT_THAT(text, HasSubstr(R"(trireme_events_total{kind="lost"} 2)"));
}

TEST(Metrics, WhatIsUnknownIsLeftOutWithItsHeader) {
  const std::string text = to_metrics(example());
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("trireme_time_left_seconds")));
  EXPECT_THAT(text, Not(HasSubstr("trireme_machine_")));
}

TEST(Metrics, EveryLineIsASampleOrAHeaderOfItsFamily) {
  const std::regex sample(R"((trireme_[a-z0-9_]+)(\{([a-z]+="([^"\\]|\\.)*",?)+\})? -?[0-9.e+-]+)");
  std::istringstream lines(to_metrics(example()));
  std::set<std::string> declared;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(declared.insert(line.substr(7, line.rfind(' ') - 7)).second) << line;
      continue;
    }
    if (line.starts_with("# HELP ")) continue;
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(line, parts, sample)) << line;
    EXPECT_TRUE(declared.contains(parts[1])) << line;
  }
}

}  // namespace
}  // namespace trireme::report
