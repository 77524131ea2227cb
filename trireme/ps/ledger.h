// SPDX-License-Identifier: Apache-2.0
// Hands out the samples of an epoch to workers, piece by piece, and knows what has become of each: every sample is used once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "trireme/data/division.h"

namespace trireme::ps {

// Samples [begin, end) of the epoch's permutation.
struct Lease {
  std::int64_t id = 0;  // of this ledger, from 1
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t round = -1;  // in_step: the number of the batch that it is a part of, from 0; else -1
  std::int64_t size() const { return end - begin; }
};

// Not for several threads at once. Workers are numbers from 0.
class Ledger {
 public:
  struct Options {
    std::int64_t begin = 0;       // first sample not used yet
    std::int64_t end = 0;         // samples of the epoch
    std::int64_t batch_size = 1;  // over all workers
    int workers = 1;
    // true: batch after batch, each divided evenly over the workers (data::part_of), each worker one part of each (bsp): just what
    // allreduce does. false: whoever asks gets the next batch_size / workers samples, rounded up (parts of `parts` instead of workers, if
    // not 0).
    bool in_step = false;
    int parts = 0;
  };
  explicit Ledger(const Options& options);

  // What the worker does next; nothing: there is no more for it in this stretch. In step, a worker whose part of a batch is empty gets its
  // part of the next one, if there is one.
  std::optional<Lease> next(int worker);
  void done(std::int64_t lease);       // used; an id that is not out is ignored (a lost answer may be told twice): false then?
  void give_back(std::int64_t lease);  // not used: somebody else gets it
  // Hands out no more, but what others need to come to the same point (in step: parts of a round that has begun).
  void stop();

  bool is_over() const;                                 // nothing is out, and nothing more will be handed out
  bool is_complete() const;                             // every sample of the epoch is used
  std::int64_t used() const;                            // samples
  std::optional<Lease> find(std::int64_t lease) const;  // if it is out
  // The workers are others from here on. What is out and not among `kept` is given back; in step all is, and `kept` must be empty.
  void regroup(int workers, int parts, const std::vector<std::int64_t>& kept);
  // Everything that is not used, in order: after stop() and is_over() in a run without losses a single run up to the end.
  std::vector<data::Range> remaining() const;
};

}  // namespace trireme::ps
