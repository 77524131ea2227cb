// SPDX-License-Identifier: Apache-2.0
// What a report says of a run agrees with what the training does: the two can't see each other, so they are compared here.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "trireme/base/files.h"
#include "trireme/cli/application.h"
#include "trireme/optim/optimizer_entry.h"
#include "trireme/report/judge/strategy_shape.h"
#include "trireme/report/read/run_reader.h"
#include "trireme/train/job/parameter_server_options.h"
#include "trireme/train/job/strategy_text.h"

namespace trireme::cli {
namespace {

TEST(ReportAgreement, AStrategyThatSumsPushesIsInStep) {
  int in_step = 0;
  for (const char* mode : {"async", "bsp", "ssp", "dssp"})
    for (const int staleness : {0, 1, 3, 10}) {
      const train::StrategyPart part = train::parse_strategy(fmt::format("ps:{}:{},servers=2", mode, staleness), "a test");
      const bool sums = train::rules_of(std::any_cast<const train::ParameterServerOptions&>(part.options)).sums();
      EXPECT_EQ(report::shape_of(train::text_of(part)).is_in_step, sums) << train::text_of(part);
      in_step += sums ? 1 : 0;
    }
  EXPECT_EQ(in_step, 5) << "bsp whatever the bound, and ssp with a bound of 0";
}

class RecordedSlots : public testing::Test {
 protected:
  RecordedSlots() : folder_(std::filesystem::path(testing::TempDir()) / fmt::format("trireme_slots_{}", ::getpid())) {}
  ~RecordedSlots() override { std::filesystem::remove_all(folder_); }

  double slots_of_a_training(const std::string& optimizer) const {
    write_file_atomically(folder_ / "job.toml", fmt::format("model = {{ name = \"mlp_128\" }}\n"
                                                            "data = {{ name = \"synthetic_digits\", samples = 20, test_samples = 0 }}\n"
                                                            "[train]\nepochs = 1\nbatch_size = 20\nthreads = 1\noptimizer = {{ {} }}\n",
                                                            optimizer));
    const std::string job = (folder_ / "job.toml").string(), runs = (folder_ / "runs").string();
    std::ostringstream out, err;
    const std::vector<const char*> arguments{"trireme", "train", job.c_str(), "--runs", runs.c_str()};
    EXPECT_EQ(run_application(static_cast<int>(arguments.size()), arguments.data(), {.out = out, .err = err}), 0) << err.str();
    return report::read_run(folder_ / "runs" / "latest").run.optimizer_slots;
  }

  std::filesystem::path folder_;
};

TEST_F(RecordedSlots, AreThoseOfEveryOptimizerOfTheCatalogue) {
  for (const optim::OptimizerEntry& entry : optim::optimizers::catalog())
    EXPECT_EQ(slots_of_a_training(fmt::format("name = \"{}\"", entry.name)), entry.slots(entry.options.defaults()).size()) << entry.name;
}

TEST_F(RecordedSlots, DependOnTheOptimizersOptions) {
  EXPECT_EQ(slots_of_a_training(R"(name = "rmsprop", momentum = 0.9)"), 2);
  EXPECT_EQ(slots_of_a_training(R"(name = "rmsprop", momentum = 0.0)"), 1);
  EXPECT_EQ(slots_of_a_training(R"(name = "sgd", momentum = 0.0)"), 0);
}

}  // namespace
}  // namespace trireme::cli
