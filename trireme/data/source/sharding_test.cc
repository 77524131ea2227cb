// SPDX-License-Identifier: Apache-2.0
// Shards and distributions have the right samples, each where it belongs, the same for the same seed.
#include "trireme/data/source/sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Parts = std::vector<std::vector<std::int64_t>>;

// Labels go round: sample i is of class i mod 10.
MemorySource samples(std::int64_t count, std::vector<std::int64_t> file_starts = {0}) {
  MemorySamples all{.format = {.shape = {1}, .classes = 10}, .file_starts = std::move(file_starts)};
  all.values.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) all.labels.push_back(static_cast<std::int32_t>(i % 10));
  return MemorySource(std::move(all));
}

std::vector<std::int64_t> everything(const Parts& parts) {
  std::vector<std::int64_t> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  return all;
}

std::vector<std::size_t> sizes_of(const Parts& parts) {
  std::vector<std::size_t> sizes;
  for (const auto& part : parts) sizes.push_back(part.size());
  return sizes;
}

std::vector<std::int64_t> up_to(std::int64_t count) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

TEST(Shard, OffReadsEverything) { EXPECT_THAT(shard(samples(4), Sharding::off, {.rank = 1, .count = 2}), ElementsAre(0, 1, 2, 3)); }

TEST(Shard, DataGoesRound) {
  EXPECT_THAT(shard(samples(7), Sharding::data, {.rank = 0, .count = 3}), ElementsAre(0, 3, 6));
  EXPECT_THAT(shard(samples(7), Sharding::data, {.rank = 2, .count = 3}), ElementsAre(2, 5));
}

TEST(Shard, FilesGoRound) {
  const MemorySource source = samples(10, {0, 3, 4, 8});
  EXPECT_THAT(shard(source, Sharding::file, {.rank = 0, .count = 3}), ElementsAre(0, 1, 2, 8, 9));
  EXPECT_THAT(shard(source, Sharding::file, {.rank = 1, .count = 3}), ElementsAre(3));
  EXPECT_THAT(shard(source, Sharding::file, {.rank = 2, .count = 3}), ElementsAre(4, 5, 6, 7));
}

TEST(Shard, FewerFilesThanWorkersAreAnErrorThatSaysSo) {
  EXPECT_EQ(thrown_error([] {
              shard(samples(10, {0, 3, 4}), Sharding::file, {.rank = 0, .count = 4});
            }),
            "invalid_argument: sharding by file needs a file a worker, but there are 3 files for 4 workers; use sharding \"data\" or "
            "\"auto\", or "
            "more files");
  EXPECT_THAT(thrown_error([] { shard(samples(10), Sharding::file, {.rank = 0, .count = 2}); }),
              HasSubstr("there is 1 file for 2 workers"));
}

TEST(Shard, AutomaticTakesFilesIfThereAreEnough) {
  const MemorySource source = samples(6, {0, 2});
  EXPECT_EQ(shard(source, Sharding::automatic, {.rank = 1, .count = 2}), shard(source, Sharding::file, {.rank = 1, .count = 2}));
  EXPECT_EQ(shard(source, Sharding::automatic, {.rank = 1, .count = 3}), shard(source, Sharding::data, {.rank = 1, .count = 3}));
}

TEST(Distribute, EachSampleToOneWorkerInExactShares) {
  for (const char* kind : {"shuffled", "contiguous", "by_class"}) {
    const Parts equal = distribute(samples(103), 4, {.kind = kind});
    EXPECT_THAT(sizes_of(equal), ElementsAre(26, 26, 26, 25)) << kind;
    EXPECT_EQ(everything(equal), up_to(103)) << kind;
    // Quotas 10.3, 20.6, 72.1: the missing one goes to the largest remainder.
    const Parts unequal = distribute(samples(103), 3, {.kind = kind, .degree = 0.37, .shares = {1, 2, 7}});
    EXPECT_THAT(sizes_of(unequal), ElementsAre(10, 21, 72)) << kind;
    EXPECT_EQ(everything(unequal), up_to(103)) << kind;
    for (const auto& part : unequal) EXPECT_TRUE(std::ranges::is_sorted(part)) << kind;
  }
}

TEST(Distribute, ContiguousPartsFollowEachOther) {
  EXPECT_THAT(distribute(samples(5), 2, {.kind = "contiguous"}), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4)));
  EXPECT_THAT(distribute(samples(10), 2, {.kind = "contiguous", .overlap = 0.4}),
              ElementsAre(ElementsAre(0, 1, 2, 3, 4, 8, 9), ElementsAre(3, 4, 5, 6, 7, 8, 9)));
}

std::size_t classes_in(const std::vector<std::int64_t>& part) {
  std::set<std::int64_t> classes;
  for (const std::int64_t index : part) classes.insert(index % 10);
  return classes.size();
}

TEST(Distribute, ByClassGivesAWorkerItsClasses) {
  const Parts parts = distribute(samples(1000), 5, {.kind = "by_class"});
  for (std::size_t worker = 0; worker < 5; ++worker) {
    EXPECT_EQ(classes_in(parts[worker]), 2U);
    for (const std::int64_t index : parts[worker]) EXPECT_EQ(static_cast<std::size_t>(index % 10 / 2), worker);
  }
}

TEST(Distribute, TheDegreeMixesClasses) {
  const auto own_share = [](double degree) {
    const Parts parts = distribute(samples(10000), 5, {.kind = "by_class", .degree = degree});
    return static_cast<double>(std::ranges::count_if(parts[0], [](std::int64_t index) { return index % 10 < 2; })) / 2000;
  };
  EXPECT_NEAR(own_share(0), 0.2, 0.03);
  EXPECT_NEAR(own_share(0.5), 0.6, 0.03);
  EXPECT_EQ(own_share(1), 1);
}

TEST(Distribute, OverlapIsGivenToTheNextWorkerToo) {
  for (const char* kind : {"shuffled", "by_class"}) {
    const Parts alone = distribute(samples(100), 4, {.kind = kind, .degree = 0.5});
    const Parts shared = distribute(samples(100), 4, {.kind = kind, .degree = 0.5, .overlap = 0.2});
    for (std::size_t worker = 0; worker < 4; ++worker) {
      std::vector<std::int64_t> added;
      std::ranges::set_difference(shared[worker], alone[worker], std::back_inserter(added));
      EXPECT_EQ(shared[worker].size(), 30U);
      EXPECT_EQ(added.size(), 5U);
      EXPECT_TRUE(std::ranges::includes(alone[(worker + 3) % 4], added)) << kind;
      EXPECT_EQ(std::set(shared[worker].begin(), shared[worker].end()).size(), 30U);
    }
  }
  EXPECT_EQ(distribute(samples(10), 1, {.overlap = 1}).front().size(), 10U);
}

TEST(Distribute, DependsOnTheSeedOnly) {
  const DistributionOptions options{.kind = "by_class", .degree = 0.5, .overlap = 0.1};
  EXPECT_EQ(distribute(samples(200), 3, options), distribute(samples(200), 3, options));
  DistributionOptions other = options;
  other.seed = 2;
  EXPECT_NE(distribute(samples(200), 3, options), distribute(samples(200), 3, other));
}

TEST(Distribute, WhatMakesNoSenseIsRefused) {
  EXPECT_THAT(thrown_error([] { distribute(samples(10), 2, {.shares = {1, 2, 3}}); }), HasSubstr("shares has 3 numbers for 2 workers"));
  EXPECT_THAT(thrown_error([] { distribute(samples(10), 2, {.shares = {1, 0}}); }), HasSubstr("a share is 0; each must be above 0"));
  EXPECT_THAT(thrown_error([] { distribute(samples(2), 3, {}); }), HasSubstr("2 samples are too few: worker 2 of 3 would get none"));
  EXPECT_THAT(thrown_error([] { distribute(samples(9), 3, {.kind = "sorted"}); }), HasSubstr("unknown distribution \"sorted\""));
  EXPECT_THAT(thrown_error([] { distribute(samples(9), 3, {.overlap = 1.5}); }), HasSubstr("overlap = 1.5 is not between 0 and 1"));
  const MemorySource targets({.format = {.shape = {1}, .targets = 1}, .values = {std::byte{1}}, .targets = {1.0F}});
  EXPECT_THAT(thrown_error([&] { distribute(targets, 1, {.kind = "by_class"}); }), HasSubstr("needs samples with classes"));
}

}  // namespace
}  // namespace trireme::data
