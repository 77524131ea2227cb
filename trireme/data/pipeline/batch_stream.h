// SPDX-License-Identifier: Apache-2.0
// Batches of an endless row of epochs, made ahead by background threads and handed out in order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/data/pipeline/transform.h"
#include "trireme/data/source/division.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

// The lease that a place was handed out by, in numbers of its owner (ps::Lease): carried from the place into its batch, not read here.
struct LeaseTag {
  std::int64_t id = 0;  // 0: the place was not leased
  std::int64_t round = -1;
  Range batch{};  // of which the place is a part
  std::int64_t half = 0;
  std::int64_t root = 0;
};

struct Batch {
  std::int64_t epoch = 0;
  std::int64_t offset = 0;  // of its first sample in the epoch
  std::int64_t size = 0;    // samples; the last batch of an epoch may have fewer
  std::int64_t whole = 0;   // samples of the batch over all workers that divide it; one of them may have none
  bool last_of_epoch = false;
  LeaseTag lease;
  std::vector<float> values;         // size x shape
  std::vector<std::int32_t> labels;  // size, if there are classes; else empty
  std::vector<float> targets;        // size x targets
  std::vector<std::uint64_t> keys;   // combine(combine(seed, epoch), sample index): a random stream a sample
};

// Samples [begin, end) of an epoch's order.
struct Place {
  std::int64_t epoch = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  LeaseTag lease{};
};

struct StreamOptions {
  std::int64_t batch_size = 128;
  std::uint64_t seed = 1;
  bool shuffle = true;            // epoch_permutation(size, seed, epoch); otherwise the order of the source
  std::int64_t interleave = 1;    // files read in turn when not shuffled, one sample of each; 1: one file after the other
  std::int64_t threads = 1;       // in the background; 0: batches are made inside next()
  std::int64_t prefetch = 4;      // batches made ahead
  std::int64_t epochs = 0;        // after these, counted from epoch 0, next() returns null; 0: never
  std::int64_t first_epoch = 0;   // where to begin (resume) ...
  std::int64_t first_offset = 0;  // ... and after how many samples of that epoch
  std::vector<double> shares;     // of the workers that divide each batch; empty: no other worker
  std::int64_t rank = 0;          // this worker among them

  // Given: says what the next batch is, of at most batch_size samples; nothing: there is no more. Then epochs and where to begin do not
  // count. It may wait, and is called by one thread at a time; what it throws is the last that next() gives. The caller that ends the
  // stream must end its wait.
  std::function<std::optional<Place>()> places = {};

  // Both are called by the thread that is in next(), while it waits; both may be empty.
  std::function<bool()> gives_up = {};            // true: next() throws `cancelled`, however long a read still hangs
  std::function<void(bool reads)> waits_on = {};  // the samples of the batch it wants are being read, or it is not yet known which
};

// Both since the stream began. Background seconds are summed over threads and overlap with the consumer's work; waiting is the
// time next() stood still.
struct StreamTimes {
  double background_seconds = 0;
  // The same work in two parts, on whatever thread: until samples are in memory, and from there into a batch.
  double read_seconds = 0;
  double decode_seconds = 0;
  double wait_seconds = 0;
};

class BatchStream {
 public:
  // Throws invalid_argument if there is no sample or the options make no sense. `clock` outlives the stream.
  BatchStream(const std::shared_ptr<const Source>& source, Transform transform, const StreamOptions& options, const Clock& clock);
  // Ends its threads, which finish no more than the sample they are at. One that does not come back from reading (a hung mount can't be
  // interrupted) is left behind after two seconds: it touches nothing but what it owns a share of, and ends when the read does.
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  // The next batch, good until the next call; null after the last epoch or place. What a background thread threw is thrown here, in the
  // place of the batch it was making; the call after that gives the batch after it. One thread calls next(). The batches are the same for
  // any number of threads.
  const Batch* next();

  StreamTimes times() const;  // any thread

 private:
  struct State;
  std::shared_ptr<State> state_;  // with its threads
};

}  // namespace trireme::data
