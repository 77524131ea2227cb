// SPDX-License-Identifier: Apache-2.0
// A stream gives the same batches for any number of threads, wherever it begins, hands faults over in place and ends at once.
#include "trireme/data/pipeline/batch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "trireme/base/random.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/base/testing/wait_until.h"
#include "trireme/data/source/memory_source.h"
#include "trireme/data/source/permutation.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const SteadyClock kClock;

// Sample i holds the number i in four pixels, label i mod 7 and target -i; a sample can fail, take time or turn a clock.
class NumberSource final : public Source {
 public:
  explicit NumberSource(std::int64_t size, std::vector<std::int64_t> file_starts = {0})
      : size_(size), file_starts_(std::move(file_starts)) {
    for (std::int64_t i = 0; i < size; ++i) targets_.push_back(-static_cast<float>(i));
  }

  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return size_; }
  std::int32_t label(std::int64_t index) const override { return static_cast<std::int32_t>(index % 7); }
  std::span<const float> target(std::int64_t index) const override {
    return std::span(targets_).subspan(static_cast<std::size_t>(index), 1);
  }
  std::vector<std::int64_t> file_starts() const override { return file_starts_; }
  void read(std::int64_t index, std::span<std::byte> sample) const override {
    ++reads;
    if (index == broken) throw Error{data_loss, "sample {} is broken", index};
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    if (clock != nullptr) clock->advance(Seconds(1));
    const std::array<float, 4> values{static_cast<float>(index), 0, 0, 1};
    std::ranges::copy(std::as_bytes(std::span(values)), sample.begin());
  }

  mutable std::atomic<std::int64_t> reads = 0;
  std::int64_t broken = -1;
  std::chrono::milliseconds pause{0};
  FakeClock* clock = nullptr;

 private:
  SampleFormat format_{.shape = {1, 2, 2}, .element = Element::f32, .classes = 7, .targets = 1};
  std::int64_t size_;
  std::vector<std::int64_t> file_starts_;
  std::vector<float> targets_;
};

Transform plain(const Source& source) { return {source.format(), {}}; }
Transform flipping(const Source& source) { return {source.format(), {}, {.flip = true, .pad = 1}}; }

bool same(const Batch& a, const Batch& b) {
  return a.epoch == b.epoch && a.offset == b.offset && a.size == b.size && a.last_of_epoch == b.last_of_epoch && a.values == b.values &&
         a.labels == b.labels && a.targets == b.targets && a.keys == b.keys;
}

std::vector<Batch> take(BatchStream& stream, std::size_t most) {
  std::vector<Batch> batches;
  while (batches.size() < most) {
    const Batch* batch = stream.next();
    if (batch == nullptr) break;
    batches.push_back(*batch);
  }
  return batches;
}

std::vector<Batch> batches_of(const StreamOptions& options, std::size_t most = 1000, std::int64_t samples = 50) {
  const auto source = std::make_shared<NumberSource>(samples);
  BatchStream stream(source, flipping(*source), options, kClock);
  return take(stream, most);
}

std::vector<std::int64_t> numbers(const std::vector<Batch>& batches) {
  std::vector<std::int64_t> found;
  for (const Batch& batch : batches)
    for (const float target : batch.targets) found.push_back(static_cast<std::int64_t>(-target));
  return found;
}

TEST(BatchStream, ABatchHasAllOfItsSamples) {
  const auto source = std::make_shared<NumberSource>(10);
  BatchStream stream(source, plain(*source), {.batch_size = 4, .seed = 3, .epochs = 2}, kClock);
  const std::vector<Batch> batches = take(stream, 100);
  ASSERT_EQ(batches.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    const Batch& batch = batches[i];
    EXPECT_EQ(batch.epoch, static_cast<std::int64_t>(i / 3));
    EXPECT_EQ(batch.offset, static_cast<std::int64_t>(4 * (i % 3)));
    EXPECT_EQ(batch.size, i % 3 == 2 ? 2 : 4);
    EXPECT_EQ(batch.last_of_epoch, i % 3 == 2);
    ASSERT_EQ(batch.values.size(), static_cast<std::size_t>(4 * batch.size));
    const auto order = epoch_permutation(10, 3, batch.epoch);
    for (std::size_t s = 0; s < static_cast<std::size_t>(batch.size); ++s) {
      const std::int64_t index = order[static_cast<std::size_t>(batch.offset) + s];
      EXPECT_EQ(batch.values[4 * s], static_cast<float>(index));
      EXPECT_EQ(batch.labels[s], index % 7);
      EXPECT_EQ(batch.targets[s], -static_cast<float>(index));
      EXPECT_EQ(batch.keys[s], combine(combine(3, static_cast<std::uint64_t>(batch.epoch)), static_cast<std::uint64_t>(index)));
    }
  }
  EXPECT_EQ(stream.next(), nullptr);
  EXPECT_EQ(stream.next(), nullptr);
}

TEST(BatchStream, AnyNumberOfThreadsGivesTheSameBatches) {
  const StreamOptions options{.batch_size = 8, .seed = 5, .threads = 0, .epochs = 4};
  const std::vector<Batch> expected = batches_of(options);
  ASSERT_EQ(expected.size(), 28U);
  for (const std::int64_t threads : {1, 2, 5}) {
    for (const std::int64_t prefetch : {1, 3, 40}) {
      StreamOptions other = options;
      other.threads = threads;
      other.prefetch = prefetch;
      EXPECT_TRUE(std::ranges::equal(batches_of(other), expected, same)) << threads << " threads, " << prefetch << " ahead";
    }
  }
}

TEST(BatchStream, BatchesLargerThanTheSetAndManyEpochsAhead) {
  const std::vector<Batch> batches = batches_of({.batch_size = 100, .threads = 3, .prefetch = 10, .epochs = 25}, 1000, 3);
  ASSERT_EQ(batches.size(), 25U);
  for (const Batch& batch : batches) EXPECT_TRUE(batch.size == 3 && batch.last_of_epoch);
}

TEST(BatchStream, ResumesAnywhere) {
  const StreamOptions options{.batch_size = 8, .seed = 5, .threads = 2, .epochs = 3};
  const std::vector<Batch> all = batches_of(options);
  for (std::size_t from = 0; from < all.size(); ++from) {
    StreamOptions rest = options;
    rest.first_epoch = all[from].epoch;
    rest.first_offset = all[from].offset;
    EXPECT_TRUE(std::ranges::equal(batches_of(rest), std::span(all).subspan(from), same)) << "from " << from;
  }
  StreamOptions at_end = options;
  at_end.first_epoch = 1;
  at_end.first_offset = 50;
  EXPECT_TRUE(std::ranges::equal(batches_of(at_end), std::span(all).subspan(14), same));
  at_end.first_epoch = 3;
  at_end.first_offset = 0;
  EXPECT_TRUE(batches_of(at_end).empty());
}

TEST(BatchStream, BeginsAtAnySampleOfAnEpoch) {
  const std::vector<Batch> all = batches_of({.batch_size = 1, .seed = 5, .threads = 0, .epochs = 3});
  for (const std::int64_t offset : {1, 4, 7, 42, 49}) {
    const std::vector<Batch> rest =
        batches_of({.batch_size = 8, .seed = 5, .threads = 2, .epochs = 3, .first_epoch = 1, .first_offset = offset});
    EXPECT_EQ(numbers(rest), numbers({all.begin() + 50 + offset, all.end()})) << offset;
    EXPECT_EQ(rest.front().offset, offset);
    EXPECT_EQ(rest.front().size, std::min<std::int64_t>(8, 50 - offset));
    const auto last = static_cast<std::size_t>((50 - offset + 7) / 8 - 1);
    EXPECT_TRUE(rest[last].last_of_epoch);
    EXPECT_EQ(rest[last + 1].epoch, 2);
    EXPECT_EQ(rest[last + 1].offset, 0);  // whole batches again
    EXPECT_EQ(rest[last + 1].size, 8);
  }
}

// Hands out the places it has; with nothing left it waits until it is ended.
class Places {
 public:
  explicit Places(std::vector<Place> places) : places_(std::move(places)) {}

  std::optional<Place> next() {
    EXPECT_FALSE(at_work_.exchange(true)) << "one thread at a time";
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return taken_ < places_.size() || ended_ || fault_; });
    at_work_ = false;
    if (taken_ < places_.size()) return places_[taken_++];
    if (fault_) throw Error{unavailable, "no lease"};
    return std::nullopt;
  }
  void change(bool ended, bool fault) {
    const std::lock_guard lock(mutex_);
    ended_ = ended;
    fault_ = fault;
    changed_.notify_all();
  }
  void add(Place place) {
    const std::lock_guard lock(mutex_);
    places_.push_back(place);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Place> places_;
  std::size_t taken_ = 0;
  bool ended_ = false, fault_ = false;
  std::atomic<bool> at_work_ = false;
};

StreamOptions options_with(Places& places, std::int64_t threads) {
  return {.batch_size = 8, .seed = 5, .threads = threads, .prefetch = 3, .places = [&places] { return places.next(); }};
}

TEST(BatchStream, PlacesThatAreGivenBecomeBatchesInTheirOrder) {
  const std::vector<Batch> all = batches_of({.batch_size = 1, .seed = 5, .threads = 0, .epochs = 3});
  std::vector<Place> given;
  RandomStream random(7);
  for (int i = 0; i < 60; ++i) {
    const auto begin = static_cast<std::int64_t>(random.below(50));
    given.push_back({static_cast<std::int64_t>(random.below(3)), begin,
                     std::min<std::int64_t>(50, begin + static_cast<std::int64_t>(random.below(9)))});
  }
  for (const std::int64_t threads : {0, 1, 3}) {
    Places places(given);
    places.change(true, false);
    const std::vector<Batch> batches = batches_of(options_with(places, threads));
    ASSERT_EQ(batches.size(), given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Place& place = given[i];
      const auto first = all.begin() + place.epoch * 50;
      EXPECT_EQ(numbers({batches[i]}), numbers({first + place.begin, first + place.end}));
      EXPECT_EQ(batches[i].epoch, place.epoch);
      EXPECT_EQ(batches[i].offset, place.begin);
      EXPECT_EQ(batches[i].size, place.end - place.begin);
      EXPECT_EQ(batches[i].whole, batches[i].size);
      EXPECT_EQ(batches[i].last_of_epoch, place.end == 50);
    }
  }
}

TEST(BatchStream, WhatWasMadeAheadIsThereWhileTheNextPlaceIsWaitedFor) {
  for (const std::int64_t threads : {1, 3}) {
    Places places({{0, 0, 5}, {0, 5, 10}});
    const auto source = std::make_shared<NumberSource>(50);
    BatchStream stream(source, plain(*source), options_with(places, threads), kClock);
    EXPECT_EQ(stream.next()->offset, 0);
    EXPECT_EQ(stream.next()->offset, 5);
    auto late = std::async(std::launch::async, [&] { return stream.next(); });
    EXPECT_EQ(late.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    places.add({1, 48, 50});
    const Batch* batch = late.get();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->epoch, 1);
    EXPECT_TRUE(batch->last_of_epoch);
    places.change(true, false);
    EXPECT_EQ(stream.next(), nullptr);
    EXPECT_EQ(stream.next(), nullptr);
  }
}

TEST(BatchStream, AFaultOfThePlacesIsTheLastThatComes) {
  for (const std::int64_t threads : {0, 1, 3}) {
    Places places({{0, 0, 5}, {0, 5, 10}});
    places.change(false, true);
    const auto source = std::make_shared<NumberSource>(50);
    BatchStream stream(source, plain(*source), options_with(places, threads), kClock);
    EXPECT_EQ(stream.next()->offset, 0);
    EXPECT_EQ(stream.next()->offset, 5);
    EXPECT_EQ(thrown_error([&] { stream.next(); }), "unavailable: no lease");
    EXPECT_EQ(stream.next(), nullptr);
  }
}

TEST(BatchStream, ABatchCarriesTheLeaseOfItsPlace) {
  for (const std::int64_t threads : {0, 1, 3}) {
    const LeaseTag lease{.id = 7, .round = 3, .batch = {0, 20}, .half = 5, .root = 2};
    Places places({{0, 0, 5, lease}, {0, 5, 10}});
    places.change(true, false);
    const auto source = std::make_shared<NumberSource>(50);
    BatchStream stream(source, plain(*source), options_with(places, threads), kClock);
    const LeaseTag carried = stream.next()->lease;
    EXPECT_EQ(carried.id, 7);
    EXPECT_EQ(carried.round, 3);
    EXPECT_EQ(carried.batch.end, 20);
    EXPECT_EQ(carried.half, 5);
    EXPECT_EQ(carried.root, 2);
    EXPECT_EQ(stream.next()->lease.id, 0);
  }
}

TEST(BatchStream, EndsWhenTheWaitForAPlaceIsEnded) {
  for (const std::int64_t threads : {1, 3}) {
    Places places({{0, 0, 5}});
    const auto source = std::make_shared<NumberSource>(50);
    std::optional<BatchStream> stream(std::in_place, source, plain(*source), options_with(places, threads), kClock);
    EXPECT_EQ(stream->next()->offset, 0);
    auto ended = std::async(std::launch::async, [&] { stream.reset(); });
    places.change(true, false);
    ASSERT_EQ(ended.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  }
}

TEST(BatchStreamDeathTest, APlaceLargerThanABatchIsABug) {
  EXPECT_DEATH(batches_of({.batch_size = 8, .threads = 0, .places = [] { return Place{0, 0, 9}; }}), "no larger than a batch");
}

TEST(BatchStream, UnshuffledOrderIsThatOfTheSourceOrOfItsFilesInTurn) {
  const auto source = std::make_shared<NumberSource>(6, std::vector<std::int64_t>{0, 3, 4});
  const auto order = [&](std::int64_t interleave) {
    const StreamOptions options{.batch_size = 4, .shuffle = false, .interleave = interleave, .threads = 2, .epochs = 2};
    BatchStream stream(source, plain(*source), options, kClock);
    return numbers(take(stream, 100));
  };
  EXPECT_THAT(order(1), ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
  EXPECT_THAT(order(2), ElementsAre(0, 3, 1, 2, 4, 5, 0, 3, 1, 2, 4, 5));
  EXPECT_THAT(order(3), ElementsAre(0, 3, 4, 1, 5, 2, 0, 3, 4, 1, 5, 2));
}

TEST(BatchStream, AFaultComesInThePlaceOfItsBatch) {
  for (const std::int64_t threads : {0, 1, 3}) {
    const auto source = std::make_shared<NumberSource>(12);
    source->broken = 6;
    BatchStream stream(source, plain(*source), {.batch_size = 4, .shuffle = false, .threads = threads, .epochs = 1}, kClock);
    EXPECT_EQ(stream.next()->offset, 0);
    EXPECT_EQ(thrown_error([&] { stream.next(); }), "data_loss: sample 6 is broken");
    EXPECT_EQ(stream.next()->offset, 8);
    EXPECT_EQ(stream.next(), nullptr);
  }
}

TEST(BatchStream, MakesNoMoreAheadThanAsked) {
  const auto source = std::make_shared<NumberSource>(1000);
  BatchStream stream(source, plain(*source), {.batch_size = 10, .threads = 2, .prefetch = 3}, kClock);
  ASSERT_NE(stream.next(), nullptr);
  while (source->reads < 40) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(source->reads, 40);  // one in use, three ahead
}

TEST(BatchStream, EndsAtOnceWhenNoCallerIsLeft) {
  const auto source = std::make_shared<NumberSource>(100000);
  source->pause = std::chrono::milliseconds(2);
  const auto start = std::chrono::steady_clock::now();
  { BatchStream stream(source, plain(*source), {.batch_size = 5000, .threads = 3}, kClock); }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));  // a batch takes ten
  EXPECT_LT(source->reads, 1000);
}

TEST(BatchStream, EndsWhileThreadsWaitForRoom) {
  const auto source = std::make_shared<NumberSource>(100);
  BatchStream stream(source, plain(*source), {.batch_size = 10, .threads = 2, .prefetch = 1}, kClock);
  while (source->reads < 20) std::this_thread::yield();
}

TEST(BatchStream, TimeInsideNextIsWaiting) {
  FakeClock clock;
  const auto source = std::make_shared<NumberSource>(10);
  source->clock = &clock;
  BatchStream stream(source, plain(*source), {.batch_size = 4, .threads = 0}, clock);
  stream.next();
  EXPECT_EQ(stream.times().wait_seconds, 4);
  stream.next();
  stream.next();
  EXPECT_EQ(stream.times().wait_seconds, 10);
  EXPECT_EQ(stream.times().background_seconds, 0);
}

TEST(BatchStream, BackgroundTimeAndWaitingAreMeasuredApart) {
  const auto source = std::make_shared<NumberSource>(100);
  source->pause = std::chrono::milliseconds(10);
  BatchStream stream(source, plain(*source), {.batch_size = 5, .threads = 1, .prefetch = 2, .epochs = 1}, kClock);
  stream.next();
  const double first = stream.times().wait_seconds;
  EXPECT_GT(first, 0.045);
  ASSERT_TRUE(wait_until([&] { return source->reads >= 15; }));  // two more are made meanwhile
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  stream.next();
  EXPECT_LT(stream.times().wait_seconds - first, 0.04);
  EXPECT_GT(stream.times().background_seconds, 0.145);
}

TEST(BatchStream, NothingToReadOrOptionsWithoutSenseAreRefused) {
  const auto none = std::make_shared<NumberSource>(0);
  EXPECT_THAT(thrown_error([&] { BatchStream(none, plain(*none), {}, kClock); }), HasSubstr("invalid_argument: no sample"));
  EXPECT_EQ(thrown_error([] { batches_of({.batch_size = 0}); }), "invalid_argument: batch_size = 0 is below 1");
  EXPECT_EQ(thrown_error([] { batches_of({.threads = 1, .prefetch = 0}); }), "invalid_argument: prefetch = 0 is below 1");
}

}  // namespace
}  // namespace trireme::data
