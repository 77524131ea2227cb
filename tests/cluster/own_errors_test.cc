// SPDX-License-Identifier: Apache-2.0
// A node whose own disk fails: the user reads which machine, which file and the system's words, and no other node is suspected.
#include <gmock/gmock.h>

#include "tests/cluster/training_process.h"
#include "trireme/base/random.h"
#include "trireme/data/records/record_writer.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::tests {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Records are read from the disk in every epoch.
class OwnErrors : public TrainingFolder {
 protected:
  OwnErrors() {
    data::MemorySamples samples{.format = {.shape = {1, 28, 28}, .classes = 10}};
    RandomStream random(3);
    samples.values.resize(600 * samples.format.sample_bytes());
    for (std::byte& value : samples.values) value = static_cast<std::byte>(random.below(256));
    for (int i = 0; i < 600; ++i) samples.labels.push_back(i % 10);
    shard_ = data::write_records(data::MemorySource(std::move(samples)), folder_, "set", {}).front();
    write_job(fmt::format(R"(
[model]
name = "mlp_128"
[data]
reader = "tfrecord"
train = ["{}"]
[data.pipeline]
cache = "none"
[train]
epochs = 1000
batch_size = 60
)",
                          shard_.string()));
  }
  std::filesystem::path shard_;
};

TEST_F(OwnErrors, AFailingDiskIsNamedWithItsFileAndTheSystemsWords) {
  ::setenv("FAILING_READS", folder_.c_str(), 1);
  ::setenv("LD_PRELOAD", FAILING_READS_LIBRARY, 1);
  ::setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
  TrainingProcess training = begin("runs", {"-n", "2"});
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("ASAN_OPTIONS");
  ASSERT_TRUE(comes_to("runs", 20)) << training.text();
  write_file_atomically(folder_ / "fail", "now");
  EXPECT_TRUE(training.says("generation 3: 2 nodes go on")) << training.text();
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  EXPECT_THAT(training.text(), AllOf(ContainsRegex("trireme: rank [01] on .* failed in step [0-9]+ .*: cannot read " + shard_.string() +
                                                   " at byte [0-9]+: Input/output error"),
                                     HasSubstr("generation 2: 1 node goes on"), Not(HasSubstr("misses"))));
  const auto lost = records("runs", "lost");
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_THAT(lost[0].text("cause"), HasSubstr("Input/output error"));
}

TEST_F(OwnErrors, AFileThatIsCutWhileItIsReadIsNamed) {
  TrainingProcess training = begin("runs", {"-n", "2", "--restarts", "0"});
  ASSERT_TRUE(comes_to("runs", 20)) << training.text();
  std::filesystem::resize_file(shard_, 5000);
  EXPECT_EQ(training.wait(), 1) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr("error: "), HasSubstr(shard_.string()), Not(HasSubstr("misses"))));
}

}  // namespace
}  // namespace trireme::tests
