// SPDX-License-Identifier: Apache-2.0
// A cache decodes each sample once, gives the same bytes from many threads, and refuses what it has no room for.
#include "trireme/data/pipeline/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "trireme/base/random.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kBytes = 100;

// Makes its samples on the spot and counts how often; the odd ones fail the first time if asked to.
class CountingSource final : public Source {
 public:
  explicit CountingSource(std::int64_t size) : size_(size) {}

  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return size_; }
  std::int32_t label(std::int64_t index) const override { return static_cast<std::int32_t>(index % 2); }
  std::vector<std::int64_t> file_starts() const override { return {0, 7}; }
  void read(std::int64_t index, std::span<std::byte> sample) const override {
    ++reads;
    if (fails.exchange(false)) throw Error{data_loss, "sample {} is broken", index};
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = value(index, i);
  }

  static std::byte value(std::int64_t index, std::size_t i) {
    return static_cast<std::byte>(combine(static_cast<std::uint64_t>(index), i) & 0xffU);
  }

  mutable std::atomic<int> reads = 0;
  mutable std::atomic<bool> fails = false;

 private:
  SampleFormat format_{.shape = {kBytes}, .classes = 2};
  std::int64_t size_;
};

std::filesystem::path scratch() { return std::filesystem::temp_directory_path() / fmt::format("trireme-cache-test-{}", ::getpid()); }

bool reads_well(const Source& source, std::int64_t index) {
  std::vector<std::byte> sample(kBytes);
  source.read(index, sample);
  for (std::size_t i = 0; i < kBytes; ++i)
    if (sample[i] != CountingSource::value(index, i)) return false;
  return true;
}

class CacheTest : public testing::TestWithParam<CacheKind> {
 protected:
  ~CacheTest() override { std::filesystem::remove_all(scratch()); }
};

TEST_P(CacheTest, DecodesEachSampleOnce) {
  const auto base = std::make_shared<CountingSource>(50);
  const auto source = cached(base, GetParam(), scratch());
  for (int round = 0; round < 3; ++round)
    for (std::int64_t i = 49; i >= 0; --i) ASSERT_TRUE(reads_well(*source, i)) << i;
  EXPECT_EQ(base->reads, 50);
  EXPECT_EQ(source->size(), 50);
  EXPECT_EQ(source->label(3), 1);
  EXPECT_EQ(source->file_starts(), base->file_starts());
  EXPECT_EQ(source->sample_name(3), "#3");
}

TEST_P(CacheTest, GivesTheSameBytesToManyThreads) {
  const auto base = std::make_shared<CountingSource>(300);
  const auto source = cached(base, GetParam(), scratch());
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&source, &wrong] {
        for (int round = 0; round < 3; ++round)
          for (std::int64_t i = 0; i < 300; ++i) wrong += !reads_well(*source, i);
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(base->reads, 1200);  // at worst all four decoded each sample in the first round
  const int before = base->reads;
  for (std::int64_t i = 0; i < 300; ++i) ASSERT_TRUE(reads_well(*source, i));
  EXPECT_EQ(base->reads, before);
}

TEST_P(CacheTest, AFailedReadIsNotKept) {
  const auto base = std::make_shared<CountingSource>(5);
  const auto source = cached(base, GetParam(), scratch());
  base->fails = true;
  EXPECT_EQ(thrown_error([&] { reads_well(*source, 2); }), "data_loss: sample 2 is broken");
  EXPECT_TRUE(reads_well(*source, 2));
  EXPECT_TRUE(reads_well(*source, 2));
  EXPECT_EQ(base->reads, 2);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CacheTest, testing::Values(CacheKind::memory, CacheKind::disk),
                         [](const auto& instance) { return instance.param == CacheKind::memory ? "memory" : "disk"; });

TEST(Cache, LeavesAloneWhatNeedsNone) {
  const auto base = std::make_shared<CountingSource>(5);
  EXPECT_EQ(cached(base, CacheKind::none, scratch()), base);
  const auto in_memory = std::make_shared<MemorySource>(MemorySamples{.format = {.shape = {1}, .targets = 0}, .values{std::byte{1}}});
  EXPECT_EQ(cached(in_memory, CacheKind::memory, scratch()), in_memory);
  EXPECT_EQ(cached(in_memory, CacheKind::disk, scratch()), in_memory);
  const auto once = cached(base, CacheKind::memory, scratch());
  EXPECT_EQ(cached(once, CacheKind::memory, scratch()), once);
}

TEST(Cache, MemoryThatIsNotThereIsRefused) {
  const auto base = std::make_shared<CountingSource>(std::int64_t{1} << 45);
  EXPECT_THAT(thrown_error([&] { cached(base, CacheKind::memory, scratch()); }),
              AllOf(HasSubstr("resource_exhausted: "), HasSubstr("3518437208883200 bytes"), HasSubstr("data.pipeline.cache = \"disk\"")));
}

TEST(Cache, ADiskThatIsFullIsReportedAtTheStart) {
  const auto base = std::make_shared<CountingSource>(std::int64_t{1} << 45);
  EXPECT_THAT(thrown_error([&] { cached(base, CacheKind::disk, scratch()); }),
              AllOf(HasSubstr("resource_exhausted: " + scratch().string()), HasSubstr("3518437208883200 bytes"),
                    HasSubstr("No space left on device")));
  std::filesystem::remove_all(scratch());
}

TEST(Cache, ADirectoryThatCannotBeIsNamed) {
  const auto base = std::make_shared<CountingSource>(5);
  EXPECT_THAT(thrown_error([&] { cached(base, CacheKind::disk, "/dev/null/here"); }),
              AllOf(HasSubstr("unavailable: /dev/null/here/"), HasSubstr("Not a directory")));
}

TEST(Cache, LeavesNoFileBehind) {
  const auto source = cached(std::make_shared<CountingSource>(5), CacheKind::disk, scratch());
  ASSERT_TRUE(reads_well(*source, 1));
  EXPECT_TRUE(std::filesystem::is_empty(scratch()));
  std::filesystem::remove_all(scratch());
}

}  // namespace
}  // namespace trireme::data
