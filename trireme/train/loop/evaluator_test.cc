// SPDX-License-Identifier: Apache-2.0
// Evaluation says when it waits for data: a read that hangs there is found as soon as one in training.
#include "trireme/train/team/evaluator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "trireme/train/loop/trainer.h"
#include "trireme/train/testing/job.h"

namespace trireme::train {
namespace {

constexpr std::string_view kJob = R"(
[model]
name = "mlp_300_100"
[data]
name = "synthetic_digits"
samples = 64
test_samples = 32
[train]
epochs = 1
batch_size = 32
threads = 1
)";

// Its samples come when it was reported that they are waited for; at the latest after some seconds, so that a test ends.
class SlowSource final : public data::Source {
 public:
  explicit SlowSource(std::shared_ptr<const data::Source> base) : base_(std::move(base)) {}
  const data::SampleFormat& format() const override { return base_->format(); }
  std::int64_t size() const override { return base_->size(); }
  std::int32_t label(std::int64_t index) const override { return base_->label(index); }
  void read(std::int64_t index, std::span<std::byte> sample) const override {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(5), [&] { return told_; })) told_ = late_ = true;
    base_->read(index, sample);
  }

  void on_wait() {
    const std::lock_guard lock(mutex_);
    told_ = true;
    changed_.notify_all();
  }
  bool is_late() const { return late_; }

 private:
  std::shared_ptr<const data::Source> base_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable bool told_ = false;
  mutable bool late_ = false;
};

TEST(Evaluation, SaysThatItWaitsForDataAndThenThatItEvaluates) {
  const Job job = job_with(kJob, {});
  data::DataSets data = data::open_data(job.data, testing::TempDir());
  const auto slow = std::make_shared<SlowSource>(data.test);
  data.test = slow;
  const SteadyClock clock;
  std::vector<std::string> phases;  // from the first evaluation on
  Trainer trainer({.job = job, .data = data, .clock = clock, .at = [&](std::int64_t, std::string_view phase) {
                     if (phase == "wait" && !phases.empty()) slow->on_wait();
                     if (phase == "evaluate" || !phases.empty()) phases.emplace_back(phase);
                   }});
  Observer silent;
  run_to_end(trainer, silent);
  EXPECT_FALSE(slow->is_late()) << "it never said that it waits for data";
  ASSERT_GE(phases.size(), 3U);
  EXPECT_EQ(phases[1], "wait");
  // On a busy machine it may wait for more than one batch before it computes with the first.
  EXPECT_EQ(*std::find_if_not(phases.begin() + 1, phases.end() - 1, [](const std::string& phase) { return phase == "wait"; }), "evaluate");
}

}  // namespace
}  // namespace trireme::train
