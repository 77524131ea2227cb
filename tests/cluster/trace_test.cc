// SPDX-License-Identifier: Apache-2.0
// Traces of real trainings: valid JSON, every message with both ends, nothing arrives before it was sent.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"
#include "trireme/base/json.h"

namespace trireme::tests {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

class Trace : public TrainingFolder {
 protected:
  Trace() { write_job(small_job({.samples = 3000, .epochs = 2, .batch_size = 60, .optimizer = "sgd"})); }

  void train(const std::string& strategy, int nodes) const {
    TrainingProcess training = begin("runs", {"-n", fmt::format("{}", nodes), "--strategy", strategy, "--profile", "steps 5-8"});
    EXPECT_EQ(training.wait(), 0) << training.text();
  }
  std::vector<Json> trace(const std::vector<std::string>& more = {}) const {
    const auto file = latest("runs") / "trace.json";
    std::vector<std::string> command{TRIREME_BINARY, "trace", latest("runs").string()};
    command.insert(command.end(), more.begin(), more.end());
    EXPECT_EQ(run_command(command), 0);
    return parse_json(read_file(file)).at("traceEvents").get<std::vector<Json>>();
  }
  static int run_command(const std::vector<std::string>& command) {
    std::string line;
    for (const std::string& word : command) line += "'" + word + "' ";
    return std::system((line + "> /dev/null 2>&1").c_str());
  }
  static std::multiset<std::string> names(const std::vector<Json>& events, int process) {
    std::multiset<std::string> out;
    for (const Json& event : events)
      if (event.at("ph") == "X" && event.at("pid") == process) out.insert(event.at("name"));
    return out;
  }
  // Sent and arrived at, by message.
  static std::map<std::string, std::pair<double, double>> flows(const std::vector<Json>& events) {
    std::map<std::string, std::vector<double>> begins, ends;
    for (const Json& event : events) {
      if (event.at("ph") == "s") begins[event.at("id")].push_back(event.at("ts"));
      if (event.at("ph") == "f") ends[event.at("id")].push_back(event.at("ts"));
    }
    std::map<std::string, std::pair<double, double>> out;
    EXPECT_EQ(begins.size(), ends.size());
    for (const auto& [id, times] : begins) {
      EXPECT_EQ(times.size(), 1U) << id;
      EXPECT_EQ(ends[id].size(), 1U) << id;
      if (!ends[id].empty()) out[id] = {times[0], ends[id][0]};
    }
    return out;
  }
  // As if node 1's clock had been an hour behind.
  void skew_clock() const {
    const auto file = latest("runs") / "profile" / "1.jsonl";
    std::ifstream in(file);
    std::string text;
    for (std::string line; std::getline(in, line);) {
      Json json = parse_json(line);
      if (json.at("type") == "meta") json["clock_offset"] = json.at("clock_offset").get<double>() + 3600;
      for (const char* time : {"begin_ns", "end_ns"})
        if (json.at("type") == "span") json[time] = json.at(time).get<std::int64_t>() - 3600 * kSecond;
      text += json.dump() + "\n";
    }
    in.close();
    std::ofstream(file) << text;
  }
};

// As Perfetto reads a number of microseconds.
std::int64_t nanoseconds_of(const Json& microseconds) { return static_cast<std::int64_t>(microseconds.get<double>() * 1000); }

// What Perfetto demands, event by event in the order of the times (and of the file): it drops a span that is partly in another of its
// track.
void expect_drawable(std::vector<Json> events) {
  std::erase_if(events, [](const Json& event) { return !event.contains("ts"); });
  std::ranges::stable_sort(events, {}, [](const Json& event) { return nanoseconds_of(event.at("ts")); });
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(nanoseconds_of(events.front().at("ts")), 0);
  std::map<std::pair<int, int>, std::vector<std::int64_t>> open;  // ends of each track's spans, each inside of the one before
  for (const Json& event : events) {
    EXPECT_GE(event.at("ts"), 0) << event;
    if (event.at("ph") != "X") continue;
    const std::int64_t begin = nanoseconds_of(event.at("ts")), end = begin + nanoseconds_of(event.at("dur"));
    auto& ends = open[{event.at("pid"), event.at("tid")}];
    while (!ends.empty() && ends.back() <= begin) ends.pop_back();
    EXPECT_TRUE(ends.empty() || end <= ends.back()) << event << " ends " << end - ends.back() << " ns after what it begins in";
    ends.push_back(end);
  }
}

// The column that steps/NODE.csv has, not one more.
void expect_epochs(const std::vector<Json>& events) {
  const auto first = std::ranges::find_if(events, [](const Json& event) { return event.at("name") == "step 1"; });
  ASSERT_NE(first, events.end());
  EXPECT_EQ(first->at("args").at("epoch"), 1);
}

void expect_causality(const std::map<std::string, std::pair<double, double>>& flows) {
  for (const auto& [id, times] : flows) EXPECT_GE(times.second, times.first - 0.01) << id;
}

TEST_F(Trace, OfTwoNodesHasEveryMessageWithBothEndsInTheRightOrder) {
  train("allreduce", 2);
  const auto events = trace();
  const auto messages = flows(events);
  EXPECT_GE(messages.size(), 8U);  // each sends to the other in each of the four steps
  expect_causality(messages);
  expect_drawable(events);
  expect_epochs(events);
  for (const int process : {0, 1}) {
    const auto seen = names(events, process);
    for (const char* name : {"step 5", "step 8", "input wait", "forward", "backward", "optimizer", "send", "receive", "exchange"})
      EXPECT_GE(seen.count(name), 1U) << name;
    EXPECT_EQ(seen.count("step 8"), 2U) << "profiled, and as the steps' file has it";
    EXPECT_EQ(seen.count("step 50"), 1U);
    EXPECT_GE(seen.count("dense_1 forward"), 4U);
  }
  skew_clock();
  const auto corrected = trace();
  EXPECT_EQ(flows(corrected).size(), messages.size());
  expect_causality(flows(corrected));
  expect_drawable(corrected);
}

TEST_F(Trace, OfServersFollowsAPushThereAndBack) {
  train("ps:async,servers=1,placement=dedicated", 3);
  const auto events = trace();
  EXPECT_GE(flows(events).size(), 8U);
  expect_causality(flows(events));
  expect_drawable(events);
  std::size_t pushes = 0, applications = 0;
  for (const int process : {0, 1, 2}) {
    pushes += names(events, process).count("push");
    applications += names(events, process).count("apply");
  }
  EXPECT_GE(pushes, 4U);
  EXPECT_GE(applications, 4U);
}

TEST_F(Trace, OfOneProcessHasNoSpansThatOverlap) {
  TrainingProcess training = begin("runs", {"--profile", "steps 5-30"});
  EXPECT_EQ(training.wait(), 0) << training.text();
  const auto events = trace();
  EXPECT_GE(names(events, 0).count("dense_1 forward"), 26U);
  expect_drawable(events);
  expect_drawable(trace({"--steps", "10-12"}));
}

TEST_F(Trace, OfARunWithoutAProfileHasItsSteps) {
  TrainingProcess training = begin("runs", {"-n", "1"});
  EXPECT_EQ(training.wait(), 0) << training.text();
  expect_drawable(trace());
  const auto events = trace({"--steps", "10-12"});
  const auto seen = names(events, 0);
  EXPECT_EQ(seen.count("step 9"), 0U);
  EXPECT_EQ(seen.count("step 10"), 1U);
  EXPECT_EQ(seen.count("step 12"), 1U);
  EXPECT_EQ(seen.count("step 13"), 0U);
  EXPECT_EQ(seen.count("backward"), 3U);
}

}  // namespace
}  // namespace trireme::tests
