// SPDX-License-Identifier: Apache-2.0
// Cuts the parameter space into shards, gives them to servers by size, and cuts what is large into pieces that travel.
#include "trireme/ps/shard_map.h"

#include <algorithm>
#include <numeric>

#include "trireme/base/error.h"

namespace trireme::ps {
namespace {

constexpr auto kValueBytes = static_cast<std::int64_t>(sizeof(float));
constexpr std::int64_t kGroupsPerServer = 16;  // so many small ones, or more, balance well
constexpr std::int64_t kMinGroupBytes = 16 << 10;

// What goes to one server as a whole: a shard of a slice, or a few small slices.
using Shard = Piece;

std::int64_t bytes_of(const Piece& piece) { return piece.size() * kValueBytes; }

std::int64_t first_dimension(const Slice& slice) { return slice.shape.rank() == 0 ? 1 : std::max<std::int64_t>(1, slice.shape[0]); }

void cut(const Slice& slice, std::size_t index, std::int64_t shards, std::vector<Shard>& out) {
  const std::int64_t rows = first_dimension(slice);
  const std::int64_t row = slice.count / rows;
  for (std::int64_t shard = 0; shard < shards; ++shard)
    out.push_back({.begin = slice.offset + rows * shard / shards * row,
                   .end = slice.offset + rows * (shard + 1) / shards * row,
                   .first_slice = index,
                   .last_slice = index});
}

std::vector<Shard> shards_of(const ParameterSpace& space, const PartitionOptions& options) {
  const std::int64_t group_bytes =
      std::min(options.piece_bytes, std::max(kMinGroupBytes, space.size() * kValueBytes / (options.servers * kGroupsPerServer)));
  std::vector<Shard> shards;
  bool open = false;  // the last one may take more slices
  for (std::size_t index = 0; index < space.slices().size(); ++index) {
    const Slice& slice = space[index];
    const std::int64_t count = shard_count(slice, options);
    const bool is_small = count == 1 && slice.count * kValueBytes <= group_bytes;
    if (open && is_small && bytes_of(shards.back()) + slice.count * kValueBytes <= group_bytes) {
      shards.back().end += slice.count;
      shards.back().last_slice = index;
    } else {
      cut(slice, index, count, shards);
    }
    open = is_small;
  }
  return shards;
}

// The largest first, each to the server that has least.
void place(std::vector<Shard>& shards, std::vector<std::int64_t>& bytes) {
  std::vector<std::size_t> order(shards.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return shards[a].size() > shards[b].size(); });
  for (const std::size_t index : order) {
    const auto least = std::min_element(bytes.begin(), bytes.end());
    shards[index].server = static_cast<int>(least - bytes.begin());
    *least += bytes_of(shards[index]);
  }
}

}  // namespace

std::int64_t shard_count(const Slice& slice, const PartitionOptions& options) {
  if (options.whole_slices) return 1;
  const std::int64_t most = options.max_shards == 0 ? options.servers : options.max_shards;
  const std::int64_t by_size = (slice.count * kValueBytes + options.min_shard_bytes - 1) / options.min_shard_bytes;
  return std::max<std::int64_t>(1, std::min({first_dimension(slice), most, by_size}));
}

ShardMap::ShardMap(const ParameterSpace& space, const PartitionOptions& options) {
  if (options.servers < 1 || options.min_shard_bytes < 1 || options.piece_bytes < kValueBytes || options.max_shards < 0)
    throw Error{invalid_argument,    "{} servers, shards of {} bytes, pieces of {} bytes, at most {} shards: that is no partition",
                options.servers,     options.min_shard_bytes,
                options.piece_bytes, options.max_shards};
  bytes_.resize(static_cast<std::size_t>(options.servers));
  of_server_.resize(bytes_.size());
  of_slice_.resize(space.slices().size());
  std::vector<Shard> shards = shards_of(space, options);
  place(shards, bytes_);
  for (const Shard& shard : shards) {
    const std::int64_t parts =
        options.whole_slices ? 1 : std::max<std::int64_t>(1, (bytes_of(shard) + options.piece_bytes - 1) / options.piece_bytes);
    for (std::int64_t part = 0; part < parts; ++part) {
      Piece piece = shard;
      piece.begin = shard.begin + shard.size() * part / parts;
      piece.end = shard.begin + shard.size() * (part + 1) / parts;
      add(piece);
    }
  }
}

void ShardMap::add(const Piece& piece) {
  const std::size_t index = pieces_.size();
  pieces_.push_back(piece);
  of_server_[static_cast<std::size_t>(piece.server)].push_back(index);
  for (std::size_t slice = piece.first_slice; slice <= piece.last_slice; ++slice) of_slice_[slice].push_back(index);
}

const std::vector<std::size_t>& ShardMap::pieces_of(int server) const {
  ensure(server >= 0 && server < servers(), "there is no such server in the shard map");
  return of_server_[static_cast<std::size_t>(server)];
}

double ShardMap::imbalance() const {
  const auto total = std::accumulate(bytes_.begin(), bytes_.end(), std::int64_t{0});
  if (total == 0) return 1;
  const auto most = *std::max_element(bytes_.begin(), bytes_.end());
  return static_cast<double>(most) * static_cast<double>(servers()) / static_cast<double>(total);
}

}  // namespace trireme::ps
