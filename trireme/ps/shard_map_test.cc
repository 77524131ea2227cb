// SPDX-License-Identifier: Apache-2.0
// Tests of the partition over servers.
#include "trireme/ps/shard_map.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme::ps {
namespace {

Slice slice_of(Shape shape) {
  const std::int64_t count = shape.count();
  return {.name = "x", .shape = std::move(shape), .count = count};
}

TEST(ShardCount, IsTheMinSizeRule) {
  const PartitionOptions options{.servers = 4};
  EXPECT_EQ(shard_count(slice_of({128, 9216}), options), 4);   // as many as servers
  EXPECT_EQ(shard_count(slice_of({2, 9216000}), options), 2);  // not more than rows
  EXPECT_EQ(shard_count(slice_of({65536}), options), 1);       // 256 KiB
  EXPECT_EQ(shard_count(slice_of({65537}), options), 2);       // a value more
  EXPECT_EQ(shard_count(slice_of({}), options), 1);
  EXPECT_EQ(shard_count(slice_of({128, 9216}), {.servers = 4, .max_shards = 3}), 3);
  EXPECT_EQ(shard_count(slice_of({128, 9216}), {.servers = 4, .max_shards = 9}), 9);
  EXPECT_EQ(shard_count(slice_of({128, 9216}), {.servers = 4, .whole_slices = true}), 1);
}

TEST(ShardMap, CutsALargeSliceAtRowsAndEvenly) {
  ParameterSpace space;
  space.add("dense/kernel", {128, 9216});
  const ShardMap map(space, {.servers = 3, .piece_bytes = 1 << 30});
  ASSERT_EQ(map.pieces().size(), 3U);
  EXPECT_EQ(map.pieces()[0].end, 42 * 9216);
  EXPECT_EQ(map.pieces()[1].end, 85 * 9216);
  EXPECT_EQ(map.pieces()[2].end, 128 * 9216);
  EXPECT_LT(map.imbalance(), 1.02);
  for (int server = 0; server < 3; ++server) EXPECT_EQ(map.pieces_of(server).size(), 1U);
}

TEST(ShardMap, CutsShardsIntoPiecesOfOneServer) {
  ParameterSpace space;
  space.add("dense/kernel", {2, 1 << 20});
  const ShardMap map(space, {.servers = 2});
  ASSERT_EQ(map.pieces().size(), 32U);
  for (std::size_t piece = 0; piece < 32; ++piece) {
    EXPECT_EQ(map.pieces()[piece].server, piece < 16 ? map.pieces()[0].server : 1 - map.pieces()[0].server);
    EXPECT_EQ(map.pieces()[piece].size(), 1 << 16);
  }
  EXPECT_EQ(map.pieces_of_slice(0).size(), 32U);
}

TEST(ShardMap, KeepsSmallNeighboursTogether) {
  ParameterSpace space;
  for (int layer = 0; layer < 4; ++layer) space.add(fmt::format("bias{}", layer), {10});
  const ShardMap map(space, {.servers = 1});
  ASSERT_EQ(map.pieces().size(), 1U);
  EXPECT_EQ(map.pieces()[0].first_slice, 0U);
  EXPECT_EQ(map.pieces()[0].last_slice, 3U);
  EXPECT_EQ(map.pieces_of_slice(2), std::vector<std::size_t>{0});
}

TEST(ShardMap, LeavesAServerEmptyIfThereIsNothingForIt) {
  ParameterSpace space;
  space.add("bias", {10});
  const ShardMap map(space, {.servers = 2});
  EXPECT_EQ(map.pieces_of(0).size() + map.pieces_of(1).size(), 1U);
  EXPECT_EQ(map.imbalance(), 2);
}

TEST(ShardMap, RefusesWhatIsNoPartition) {
  const ParameterSpace space;
  EXPECT_EQ(thrown_error([&] { ShardMap(space, {.servers = 0}); }).substr(0, 16), "invalid_argument");
}

}  // namespace
}  // namespace trireme::ps
