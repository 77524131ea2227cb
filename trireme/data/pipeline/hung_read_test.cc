// SPDX-License-Identifier: Apache-2.0
// A stream whose source hangs in a read, as on a mount whose server is gone: it can be given up and ended all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/pipeline/batch_stream.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;

const SteadyClock kClock;

class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
    --waiting_;
    changed_.notify_all();
  }
  void await_waiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int waiting_ = 0;
};

// Samples from the tenth on hang until the gate opens.
class HungSource final : public Source {
 public:
  explicit HungSource(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {}
  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return 100; }
  std::int32_t label(std::int64_t) const override { return 0; }
  void read(std::int64_t index, std::span<std::byte> sample) const override {
    if (index >= 10) gate_->pass();
    std::ranges::fill(sample, std::byte{0});
  }

 private:
  std::shared_ptr<Gate> gate_;
  SampleFormat format_{.shape = {1, 2, 2}, .element = Element::f32, .classes = 7};
};

class HungRead : public testing::Test {
 protected:
  BatchStream stream(StreamOptions options) const {
    options.batch_size = 10;
    options.shuffle = false;
    options.threads = 1;
    const auto source = std::make_shared<HungSource>(gate_);
    return {source, Transform(source->format(), {}), options, kClock};
  }
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

TEST_F(HungRead, IsGivenUpByTheThreadThatWaitsForIt) {
  std::atomic<bool> has_enough = false;
  BatchStream batches = stream({.gives_up = [&] { return has_enough.load(); }});
  EXPECT_NE(batches.next(), nullptr);
  auto second = std::async(std::launch::async, [&] { return thrown_error([&] { batches.next(); }); });
  gate_->await_waiting(1);
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  has_enough = true;
  EXPECT_EQ(second.get(), "cancelled: reading a batch was given up");
  gate_->open();
}

TEST_F(HungRead, DoesNotKeepTheStreamFromEnding) {
  {
    BatchStream batches = stream({});
    EXPECT_NE(batches.next(), nullptr);
    gate_->await_waiting(1);
  }
  gate_->await_waiting(1);  // its thread was left behind, and still hangs
  gate_->open();
  gate_->await_waiting(0);
}

TEST_F(HungRead, SaysWhetherItWaitsForSamplesOrForAPlace) {
  Gate place;
  std::vector<bool> reads;
  std::atomic<std::size_t> told = 0;
  BatchStream batches = stream({.places = [&]() -> std::optional<Place> {
                                  place.pass();
                                  return Place{0, 10, 20};
                                },
                                .gives_up = [&] { return false; },
                                .waits_on =
                                    [&](bool is_read) {
                                      reads.push_back(is_read);
                                      ++told;
                                      told.notify_all();
                                    }});
  auto first = std::async(std::launch::async, [&] { return batches.next(); });
  told.wait(0);
  place.open();
  told.wait(1);
  gate_->open();
  EXPECT_NE(first.get(), nullptr);
  EXPECT_THAT(reads, ElementsAre(false, true)) << "first it had no place, then no samples";
}

}  // namespace
}  // namespace trireme::data
