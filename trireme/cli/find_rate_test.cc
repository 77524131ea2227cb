// SPDX-License-Identifier: Apache-2.0
// find-rate as a user meets it: a picture, a line for the job file, and nothing left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/cli/testing/program.h"

namespace trireme::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class FindRate : public testing::Test {
 protected:
  FindRate() {
    std::filesystem::remove_all(folder_);
    write_file_atomically(job(), "model = 'mlp_128'\ndata = 'synthetic_digits'\n[train]\nthreads = 1\nbatch_size = 32\n");
  }
  ~FindRate() override { std::filesystem::remove_all(folder_); }

  std::string job() const { return (folder_ / "job.toml").string(); }
  Result find(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"find-rate", job()});
    return run(more);
  }

  const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("trireme_find_rate_" + std::to_string(::getpid()));
};

TEST_F(FindRate, ShowsACurveAndTheLineToWrite) {
  const Result result = find();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("loss\n"), HasSubstr("falls fastest"), HasSubstr("  learning_rate = "),
                                HasSubstr("trireme train " + job() + " --set train.optimizer.learning_rate=")));
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 1) << "only the job file";
}

TEST_F(FindRate, SuggestsWhatTrainsWell) {
  for (const char* optimizer : {"{name = 'sgd', momentum = 0.9}", "{name = 'adam'}"}) {
    const std::string setting = std::string("train.optimizer=") + optimizer;
    const Result found = find({"--json", "--set", setting});
    ASSERT_EQ(found.code, 0) << found.err;
    const double rate = parse_json(found.out)["suggestion"].get<double>();
    const Result trained = run({"train", job(), "--runs", (folder_ / "runs").string(), "--set", setting, "--set", "train.epochs=2", "--set",
                                "train.optimizer.learning_rate=" + std::to_string(rate)});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const auto score = parse_json(run({"eval", (folder_ / "runs" / "latest").string(), "--json"}).out);
    EXPECT_GT(score["accuracy"].get<double>(), 0.9) << optimizer << " " << rate;
  }
}

TEST_F(FindRate, SaysWhatIsWrong) {
  EXPECT_EQ(find({"--from", "1", "--to", "0.1"}).code, 2);
  const Result flat = find({"--from", "1e-12", "--to", "1e-10", "--steps", "20"});
  EXPECT_EQ(flat.code, 3);
  EXPECT_THAT(flat.err, HasSubstr("the loss never fell"));
  EXPECT_THAT(run({"find-rate", folder_.string()}).err, HasSubstr("trireme init " + folder_.string()));
}

}  // namespace
}  // namespace trireme::cli
