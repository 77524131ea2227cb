// SPDX-License-Identifier: Apache-2.0
// What a worker and a server say to each other: a fixed head, then values.
#pragma once

#include <cstdint>
#include <string>

#include "trireme/rpc/bulk.h"

namespace trireme::ps {

enum class Kind : std::uint32_t {
  // From a worker.
  hello = 1,  // the first on a stream. generation
  push,       // gradients of a piece: piece, begin, end (of these values in it), id, version (they were computed with), samples, rate,
              // lease, half, root
  fetch,      // asks for what a server has: piece, slot (-1: parameters), as f32
  ask,        // for a lease (lead only)
  done,       // a lease is used: lease, and what came of it (lead only)
  drop,       // a lease was not used: lease (lead only)
  retire,     // no more pushes in this stretch
  // From a server.
  values,   // of a piece: piece, begin, end, id (of the push they answer), version, taken (0: it came too late and was dropped)
  fetched,  // piece, begin, end, slot, version
  granted,  // lease, begin, end, round, half, root; lease 0: nothing more for this worker in this stretch
  noted,    // lease: the lead knows what became of it
};

// Little-endian, as all machines are that we run on; both ends are the same program (fingerprints are compared before).
struct Frame {
  Kind kind = Kind::hello;
  std::uint32_t piece = 0;
  std::uint64_t generation = 0;
  std::uint64_t id = 0;
  std::int64_t version = 0;
  std::int64_t lease = 0, begin = 0, end = 0, round = -1;
  std::int64_t half = 0, root = 0;  // as Lease has them
  std::int32_t slot = -1;
  std::uint32_t flags = 0;  // kTaken, kTraced, kVoid
  double rate = 0;
  std::int64_t samples = 0, correct = 0;
  double loss = 0, penalty = 0;                               // means over the samples
  double compute_seconds = 0, wait_seconds = 0, seconds = 0;  // of the worker's step
  std::int64_t staleness = 0;                                 // values: of the push they answer; done: as a server reported it
};
inline constexpr std::uint32_t kTaken = 1;
inline constexpr std::uint32_t kTraced = 2;  // push: the worker is profiled, and the server shall report it, too
// The worker's loss or gradients were not finite, and its step is skipped. push: it has no values and changes none, but counts as a push of
// its samples; values: the round that they answer has changed nothing; done: the samples are used, without effect.
inline constexpr std::uint32_t kVoid = 4;

std::string head_of(const Frame& frame);
Frame frame_of(const rpc::Incoming& message);  // throws data_loss
inline constexpr std::size_t kFrameBytes = sizeof(Frame);

}  // namespace trireme::ps
