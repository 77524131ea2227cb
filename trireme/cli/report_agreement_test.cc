// SPDX-License-Identifier: Apache-2.0
// What a report reads of a run is what the entries of the catalogues state: the two can't see each other, so they are compared here.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "trireme/base/files.h"
#include "trireme/cli/testing/program.h"
#include "trireme/optim/optimizer_entry.h"
#include "trireme/report/read/run_reader.h"

namespace trireme::cli {
namespace {

class RecordedFacts : public testing::Test {
 protected:
  RecordedFacts() : folder_(std::filesystem::path(testing::TempDir()) / fmt::format("trireme_facts_{}", ::getpid())) {}
  ~RecordedFacts() override { std::filesystem::remove_all(folder_); }

  double slots_of_a_training(const std::string& optimizer) const {
    write_file_atomically(folder_ / "job.toml", fmt::format("model = {{ name = \"mlp_128\" }}\n"
                                                            "data = {{ name = \"synthetic_digits\", samples = 20, test_samples = 0 }}\n"
                                                            "[train]\nepochs = 1\nbatch_size = 20\nthreads = 1\noptimizer = {{ {} }}\n",
                                                            optimizer));
    return trained().run.optimizer_slots;
  }

  // The job file that is there.
  report::RunDocument trained() const {
    const std::string job = (folder_ / "job.toml").string(), runs = (folder_ / "runs").string();
    const Result result = run({"train", job, "--runs", runs});
    EXPECT_EQ(result.code, 0) << result.err;
    return report::read_run(folder_ / "runs" / "latest");
  }

  std::filesystem::path folder_;
};

TEST_F(RecordedFacts, SlotsAreThoseOfEveryOptimizerOfTheCatalogue) {
  for (const optim::OptimizerEntry& entry : optim::optimizers::catalog())
    EXPECT_EQ(slots_of_a_training(fmt::format("name = \"{}\"", entry.name)), entry.slots(entry.options.defaults()).size()) << entry.name;
}

TEST_F(RecordedFacts, SlotsDependOnTheOptimizersOptions) {
  EXPECT_EQ(slots_of_a_training(R"(name = "rmsprop", momentum = 0.9)"), 2);
  EXPECT_EQ(slots_of_a_training(R"(name = "rmsprop", momentum = 0.0)"), 1);
  EXPECT_EQ(slots_of_a_training(R"(name = "sgd", momentum = 0.0)"), 0);
}

TEST_F(RecordedFacts, OfOneNodeAloneAreThatNothingIsSent) {
  slots_of_a_training(R"(name = "sgd")");
  const report::RunDocument document = report::read_run(folder_ / "runs" / "latest");
  EXPECT_EQ(document.run.strategy, "local");
  ASSERT_EQ(document.strategies.size(), 1U);
  EXPECT_EQ(document.strategies.front().strategy, "local");
  EXPECT_EQ(document.strategies.front().exchange, report::StrategyFacts::Exchange::none);
}

}  // namespace
}  // namespace trireme::cli
