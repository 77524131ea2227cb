// SPDX-License-Identifier: Apache-2.0
// What real trainings report of their time and traffic, by every strategy: it adds up, and the bytes are those that the algorithms need.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"

namespace trireme::tests {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

// Rows of a node's steps, by column.
using Columns = std::map<std::string, std::vector<double>>;

Columns read_steps(const std::filesystem::path& file) {
  std::ifstream text(file);
  std::string line, word;
  std::vector<std::string> names;
  std::getline(text, line);
  for (std::istringstream words(line); std::getline(words, word, ',');) names.push_back(word);
  Columns columns;
  while (std::getline(text, line)) {
    std::istringstream words(line);
    for (const std::string& name : names) {
      std::getline(words, word, ',');
      columns[name].push_back(std::stod(word));
    }
  }
  return columns;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }
double parts(const Columns& steps) {
  double all = 0;
  for (const char* part : {"input_wait", "forward", "backward", "exposed", "optimizer", "idle"})
    all += sum(steps.at(std::string(part) + "_seconds"));
  return all;
}

struct Case {
  std::string strategy;
  int nodes = 1;
};
std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.strategy + "_" + std::to_string(info.param.nodes);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

class Anatomy : public TrainingFolder, public testing::WithParamInterface<Case> {
 protected:
  // One process is fast, and a machine is not looked at in a window of milliseconds.
  Anatomy() { write_job(small_job({.samples = 3000, .epochs = GetParam().nodes > 1 ? 3 : 40, .batch_size = 60, .optimizer = "sgd"})); }

  Columns train(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"-n", fmt::format("{}", GetParam().nodes)};
    if (GetParam().nodes > 1) arguments.insert(arguments.end(), {"--strategy", GetParam().strategy});
    arguments.insert(arguments.end(), more.begin(), more.end());
    TrainingProcess training = begin("runs", arguments);
    EXPECT_EQ(training.wait(), 0) << training.text();
    return read_steps(latest("runs") / "steps" / fmt::format("{}.csv", GetParam().nodes - 1));
  }
  std::vector<observe::Record> telemetry(const std::string& type) const {
    std::vector<observe::Record> out;
    for (const auto& record : observe::read_journal(latest("runs") / "telemetry.jsonl"))
      if (record.type == type) out.push_back(record);
    return out;
  }
};

TEST_P(Anatomy, PartsMakeUpTheStep) {
  const Columns steps = train();
  ASSERT_GE(steps.at("seconds").size(), 30U);
  EXPECT_NEAR(parts(steps) / sum(steps.at("seconds")), 1, 0.02);
  EXPECT_GT(sum(steps.at("forward_seconds")), 0);
  EXPECT_GT(sum(steps.at("backward_seconds")), 0);
  EXPECT_GT(sum(steps.at("read_seconds")) + sum(steps.at("decode_seconds")), 0);
  // What no clock was at is little beside what one was at, however small these steps are.
  if (GetParam().strategy.starts_with("ps")) return;  // it waits for work there
  EXPECT_LT(sum(steps.at("idle_seconds")), 0.5 * sum(steps.at("seconds")));
}

TEST_P(Anatomy, OneRecordASecondHasTheSameSums) {
  const Columns steps = train({"--set", "observe.sample_seconds=0.2"});
  std::map<std::string, double> sums;
  for (const auto& record : telemetry("node"))
    if (record.text("node") == std::to_string(GetParam().nodes - 1))
      for (const char* name : {"steps", "samples", "seconds", "forward_seconds", "exposed_seconds"}) sums[name] += record.real(name);
  EXPECT_EQ(sums["steps"], static_cast<double>(steps.at("seconds").size()));
  EXPECT_EQ(sums["samples"], sum(steps.at("samples")));
  EXPECT_NEAR(sums["seconds"] / sum(steps.at("seconds")), 1, 0.02);
  const auto machines = telemetry("machine");
  ASSERT_FALSE(machines.empty());
  for (const auto& machine : machines)
    EXPECT_NEAR(machine.real("cpu_user") + machine.real("cpu_system") + machine.real("cpu_wait") + machine.real("cpu_idle"), 1, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Strategies, Anatomy,
                         testing::Values(Case{"local", 1}, Case{"allreduce", 3}, Case{"local_sgd:4", 2}, Case{"ps:async", 2},
                                         Case{"ps:bsp,servers=1,placement=dedicated", 3}, Case{"ps:ssp:2", 2}),
                         name_of);

class Bytes : public TrainingFolder {
 protected:
  Bytes() { write_job(small_job({.samples = 3000, .epochs = 2, .batch_size = 60, .optimizer = "sgd"})); }

  // Bytes sent and received by the last of so many nodes in its median step.
  std::pair<double, double> per_step(const std::string& strategy, int nodes) const {
    TrainingProcess training = begin("runs", {"-n", fmt::format("{}", nodes), "--strategy", strategy});
    EXPECT_EQ(training.wait(), 0) << training.text();
    const Columns steps = read_steps(latest("runs") / "steps" / fmt::format("{}.csv", nodes - 1));
    return {median(steps.at("bytes_sent")), median(steps.at("bytes_received"))};
  }
  static double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
  }
  double parameters() const { return records("runs", "run").front().real("parameters"); }
};

TEST_F(Bytes, OfARingAreTwiceTheModelButForTheOwnPart) {
  for (const int nodes : {2, 3}) {
    const auto [sent, received] = per_step("allreduce,algorithm=ring", nodes);
    const double model = 2.0 * (nodes - 1) / nodes * 4 * parameters();
    EXPECT_THAT(sent / model, AllOf(Ge(0.95), Le(1.05))) << nodes;
    EXPECT_THAT(received / model, AllOf(Ge(0.95), Le(1.05))) << nodes;
  }
}

TEST_F(Bytes, WithAServerAreTheGradientsAndTheParameters) {
  const auto [sent, received] = per_step("ps:async,servers=1,placement=dedicated", 3);
  const double model = 4 * parameters();
  EXPECT_THAT(sent / model, AllOf(Ge(0.95), Le(1.05)));
  EXPECT_THAT(received / model, AllOf(Ge(0.95), Le(1.05)));
}

}  // namespace
}  // namespace trireme::tests
