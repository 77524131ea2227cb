// SPDX-License-Identifier: Apache-2.0
// The partition of every network of the zoo over several numbers of servers.
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <set>

#include "trireme/graph/model_entry.h"
#include "trireme/ps/shard_map.h"

namespace trireme::ps {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// The shards of the rule begin at rows, evenly; each must begin a piece, and lie at one server.
void expect_shards(const ShardMap& map, std::size_t index, const Slice& slice, std::int64_t shards) {
  const std::int64_t rows = slice.shape[0], row = slice.count / rows;
  std::set<std::int64_t> begins;
  std::map<std::int64_t, std::set<int>> servers;
  for (std::int64_t shard = 0; shard < shards; ++shard) begins.insert(slice.offset + rows * shard / shards * row);
  EXPECT_EQ(static_cast<std::int64_t>(begins.size()), shards) << slice.name;
  for (const std::size_t piece : map.pieces_of_slice(index))
    servers[*std::prev(begins.upper_bound(map.pieces()[piece].begin))].insert(map.pieces()[piece].server);
  EXPECT_EQ(static_cast<std::int64_t>(servers.size()), shards) << slice.name;
  for (const auto& [begin, of_shard] : servers) EXPECT_EQ(of_shard.size(), 1U) << slice.name;
}

bool has_own_pieces(const ShardMap& map, std::size_t slice) {
  const Piece& first = map.pieces()[map.pieces_of_slice(slice).front()];
  return first.first_slice == first.last_slice;
}

void expect_no_gaps(const ParameterSpace& space, const ShardMap& map) {
  std::int64_t end = 0;
  for (const Piece& piece : map.pieces()) {
    EXPECT_EQ(piece.begin, end);
    EXPECT_GT(piece.size(), 0);
    EXPECT_LE(space[piece.first_slice].offset, piece.begin);
    EXPECT_GE(space[piece.last_slice].offset + space[piece.last_slice].count, piece.end);
    end = piece.end;
  }
  EXPECT_EQ(end, space.size());
}

class ZooPartition : public testing::TestWithParam<std::string_view> {};

TEST_P(ZooPartition, FollowsTheRuleAndIsBalanced) {
  const graph::Graph graph = graph::build_model(GetParam());
  const ParameterSpace& space = graph.parameters();
  for (const int servers : {1, 2, 3, 5}) {
    const PartitionOptions options{.servers = servers};
    const ShardMap map(space, options);
    expect_no_gaps(space, map);
    for (const Piece& piece : map.pieces()) EXPECT_LE(piece.size() * 4, options.piece_bytes);
    for (std::size_t slice = 0; slice < space.slices().size(); ++slice) {
      const std::int64_t expected = shard_count(space[slice], options);
      if (has_own_pieces(map, slice)) {
        expect_shards(map, slice, space[slice], expected);
      } else {
        EXPECT_EQ(expected, 1) << space[slice].name;
        EXPECT_EQ(map.pieces_of_slice(slice).size(), 1U);
      }
    }
    if (space.size() * 4 > servers * kMiB) {
      EXPECT_LE(map.imbalance(), 1.1) << servers << " servers";
    }
  }
}

TEST_P(ZooPartition, CutsNoSliceWhereTheOptimizerNeedsWholeOnes) {
  const graph::Graph graph = graph::build_model(GetParam());
  const ParameterSpace& space = graph.parameters();
  const ShardMap map(space, {.servers = 3, .whole_slices = true});
  expect_no_gaps(space, map);
  for (const Piece& piece : map.pieces()) {
    EXPECT_EQ(piece.begin, space[piece.first_slice].offset);
    EXPECT_EQ(piece.end, space[piece.last_slice].offset + space[piece.last_slice].count);
  }
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const graph::ModelEntry& entry : graph::zoo::catalog()) all.push_back(entry.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooPartition, testing::ValuesIn(names()), [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace trireme::ps
