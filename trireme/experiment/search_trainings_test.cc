// SPDX-License-Identifier: Apache-2.0
// Jobs and copies that a search makes; tests/cluster/search_test.cc has the trainings.
#include "trireme/experiment/search_trainings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/train/job/job.h"
#include "trireme/train/servers/parameter_servers.h"

namespace trireme::experiment {
namespace {

TEST(SearchTrainings, AStrategyIsReplacedButWhatAllShareStays) {
  const Config job = Config::parse_toml(R"(
model = { name = "mlp_128" }
data = { name = "synthetic_digits" }
strategy = { name = "local_sgd", steps = 7, shares = "equal", timeout_seconds = 5 }
)",
                                        "job");
  const train::Job changed = train::job_from_config(with_strategy(job, "ps:ssp:4,servers=2"));
  EXPECT_EQ(changed.strategy.name, "ps");
  EXPECT_EQ(changed.strategy.team.shares, "equal");
  EXPECT_EQ(changed.strategy.team.timeout_seconds, 5);
  const auto& options = std::any_cast<const train::ParameterServerOptions&>(changed.strategy.options);
  EXPECT_EQ(options.mode, "ssp");
  EXPECT_EQ(options.staleness, 4);
  EXPECT_EQ(options.servers, 2);
  EXPECT_EQ(options.placement, "shared");
  EXPECT_THROW(with_strategy(job, "none"), Error);
}

TEST(SearchTrainings, ACopyHasTheNewestCheckpointOnly) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("trireme_copy_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  write_file_atomically(folder / "run" / "config.toml", "a");
  write_file_atomically(folder / "run" / "journal.jsonl", "b");
  write_file_atomically(folder / "run" / "lock", "1");
  make_directories(folder / "run" / "checkpoints");
  EXPECT_THROW(copy_run(folder / "run", folder / "copy"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "copy"));
  for (const char* step : {"step-00000009", "step-00000020"})
    write_file_atomically(folder / "run" / "checkpoints" / step / "model.safetensors", step);
  copy_run(folder / "run", folder / "copy");
  EXPECT_EQ(read_file(folder / "copy" / "checkpoints" / "step-00000020" / "model.safetensors"), "step-00000020");
  EXPECT_FALSE(std::filesystem::exists(folder / "copy" / "checkpoints" / "step-00000009"));
  EXPECT_EQ(read_file(folder / "copy" / "journal.jsonl"), "b");
  EXPECT_FALSE(std::filesystem::exists(folder / "copy" / "lock"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace trireme::experiment
