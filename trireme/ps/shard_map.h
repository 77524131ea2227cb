// SPDX-License-Identifier: Apache-2.0
// Which server has which part of the parameter space.
#pragma once

#include <cstdint>
#include <vector>

#include "trireme/tensor/parameter_space.h"

namespace trireme::ps {

struct PartitionOptions {
  int servers = 1;
  std::int64_t min_shard_bytes = 256 << 10;
  std::int64_t max_shards = 0;           // of one slice; 0: as many as servers
  std::int64_t piece_bytes = 256 << 10;  // what travels and is updated as one
  bool whole_slices = false;             // for optimizers that need them (lars): no slice is cut, whatever its size
};

// max(1, min(dim0, max_shards, ceil(bytes / min_shard_bytes)))
std::int64_t shard_count(const Slice& slice, const PartitionOptions& options);

// A run of the space that travels and is updated as one.
struct Piece {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int server = 0;
  std::size_t first_slice = 0;  // that it has values of ...
  std::size_t last_slice = 0;   // ... the last of them included
  std::int64_t size() const { return end - begin; }
};

// Slices are cut into shards by the rule, along their first dimension, as evenly as that goes; neighbours that are small are kept together
// (they travel as one piece); then each goes to the server with the fewest bytes, the largest first. Same input, same map.
class ShardMap {
 public:
  ShardMap(const ParameterSpace& space, const PartitionOptions& options);

  int servers() const { return static_cast<int>(bytes_.size()); }
  const std::vector<Piece>& pieces() const { return pieces_; }  // in the order of the space, no gaps
  const std::vector<std::size_t>& pieces_of(int server) const;  // their indices
  const std::vector<std::size_t>& pieces_of_slice(std::size_t slice) const { return of_slice_[slice]; }
  std::int64_t bytes(int server) const { return bytes_[static_cast<std::size_t>(server)]; }
  double imbalance() const;  // most bytes of a server / mean

 private:
  void add(const Piece& piece);

  std::vector<Piece> pieces_;
  std::vector<std::vector<std::size_t>> of_server_;
  std::vector<std::vector<std::size_t>> of_slice_;
  std::vector<std::int64_t> bytes_;
};

}  // namespace trireme::ps
