// SPDX-License-Identifier: Apache-2.0
// Which samples a worker reads: TensorFlow's sharding policies, and ways of distributing data that experiments compare.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/options.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

struct Worker {
  std::int64_t rank = 0;
  std::int64_t count = 1;
};

// off: every worker reads everything. data: sample i goes to worker i mod count. file: file i goes to worker i mod count; fewer
// files than workers are an error that says so. automatic: file if there are enough files, else data.
enum class Sharding { off, data, file, automatic };

// The samples of `source` that belong to `worker`, ascending.
std::vector<std::int64_t> shard(const Source& source, Sharding policy, const Worker& worker);

struct DistributionOptions {
  std::string kind = "shuffled";  // shuffled, contiguous, by_class
  double degree = 1;              // by_class: this share of the samples is dealt out by class, the rest at random
  double overlap = 0;             // this share of a worker's samples is also given to the next worker
  std::vector<double> shares;     // relative sizes of the workers' parts; empty: equal
  std::int64_t seed = 1;
};
void describe(DistributionOptions& o, OptionVisitor& visit);

// A list of samples for each of `workers`, ascending. Without overlap each sample is in exactly one. by_class sorts its share by
// label and cuts it into one run of classes a worker. The overlap of contiguous parts is what lies next to the next worker's
// part, that of the others is picked at random. A worker that would get nothing is an error.
std::vector<std::vector<std::int64_t>> distribute(const Source& source, std::int64_t workers, const DistributionOptions& options);

}  // namespace trireme::data
