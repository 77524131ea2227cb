// SPDX-License-Identifier: Apache-2.0
// Hands out the samples of an epoch to workers, piece by piece, and knows what has become of each: every sample is used once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "trireme/data/source/division.h"
#include "trireme/ps/runs.h"

namespace trireme::ps {

// Samples [begin, end) of the epoch's permutation.
struct Lease {
  std::int64_t id = 0;  // of this ledger, from 1
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t round = -1;  // in_step: the number of the batch that it is a part of, from 0; else -1
  data::Range batch{};      // in step: all of that batch
  // Not in step: a lease of these samples whose worker was lost in the middle of its push. Pieces that have that push take no other of
  // these samples. 0: there is none.
  std::int64_t half = 0;
  std::int64_t root = 0;  // the first lease of these samples, if this is not the first
  std::int64_t size() const { return end - begin; }
  std::int64_t first() const { return root != 0 ? root : id; }
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
    // allreduce does. Of a batch with fewer samples than workers the first ones get a sample each, the others nothing. false: a worker that
    // asks gets the next batch_size / workers samples, rounded up (parts of `parts` instead of workers, if not 0).
    bool in_step = false;
    int parts = 0;
  };
  explicit Ledger(const Options& options);

  // What the worker does next; nothing: there is no more for it in this stretch. In step, a worker whose part of a batch is empty gets its
  // part of the next one, if there is one.
  std::optional<Lease> next(int worker);
  bool done(std::int64_t lease);       // used; false: it is not out (after a lost answer it may be reported twice)
  void give_back(std::int64_t lease);  // not used: another worker gets it; one that is not out is ignored
  // Not in step: some pieces have its push, others will never get it. Another worker does its samples again, for these. One that is not out
  // is ignored.
  void halve(std::int64_t lease);
  // Hands out no more, but what is missing up to where all come: in step parts of a round that has begun, else what is given back. So all
  // that is used in the end lies before all that is not.
  void stop();

  bool is_over() const;                                                     // nothing is out, and nothing more will be handed out
  bool is_complete() const;                                                 // every sample from `begin` to the end of the epoch is used
  std::int64_t used() const { return used_.size(); }                        // samples
  std::optional<Lease> find(std::int64_t lease) const;                      // if it is out
  std::vector<Lease> out_but(const std::vector<std::int64_t>& kept) const;  // what is out and not among these
  // The workers are others from here on, `parts` as in Options. What is out and not among `kept` is given back. In step all is; but a round
  // that one worker is done with was an update of all its parts, and counts as used, also if that worker has not reported it yet: then
  // its lease is among `kept`. Returns the rounds that count as used and of which no worker has reported.
  std::vector<Lease> regroup(int workers, int parts, const std::vector<std::int64_t>& kept);
  // Everything that is not used, in order: after stop() and is_over() a single run up to the end.
  std::vector<data::Range> remaining() const;

 private:
  std::optional<Lease> next_in_step(int worker);
  Lease next_half(std::int64_t most);
  Lease hand_out(data::Range samples, std::int64_t round);
  data::Range batch(std::int64_t round) const;
  std::vector<Lease> regroup_in_step(const std::vector<std::int64_t>& kept);

  Options options_;
  std::int64_t last_id_ = 0;
  bool is_stopped_ = false;
  std::map<std::int64_t, Lease> out_;
  Runs used_;

  // Not in step
  Runs free_;
  std::vector<Lease> halves_;
  std::int64_t frontier_ = 0;  // nothing behind it was ever handed out

  // In step
  std::int64_t first_round_ = 0;          // of these workers
  std::int64_t first_sample_ = 0;         // of that round
  std::int64_t rounds_begun_ = 0;         // one after the last that a worker has got a part of ...
  std::int64_t rounds_done_ = 0;          // ... and is done with
  std::vector<std::int64_t> next_round_;  // by worker
  std::vector<Lease> given_back_;
};

}  // namespace trireme::ps
