// SPDX-License-Identifier: Apache-2.0
// What a coordinator and its nodes send each other.
#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"

namespace trireme::coord {

// What a node is about to train, as hashes: members of one job must have equal fingerprints.
struct JobFingerprint {
  std::string version;  // of the program
  std::string job;
  std::string model;
  std::string data;
};

// Opaque to this module: train gives it a meaning.
struct Message {
  std::string kind;
  std::string bytes;  // at most kMessageBytes; larger things go through Coordinator::Method in pieces
};
constexpr std::size_t kMessageBytes = (4 << 20) - 4096;

constexpr double kHeartbeatsPerSilence = 5;

// What a node says of itself when it comes; its name is taken from its certificate instead.
struct NodeInfo {
  std::string host;     // the machine as the user calls it
  std::string address;  // by which the other nodes reach it
  int cores = 0;
  std::int64_t process = 0;
};

// Where a node is in its work.
struct Progress {
  std::int64_t step = -1;        // -1: not in a step
  std::string phase;             // "exchange"
  std::uint64_t moves = 0;       // how often it has come to another place so far: without a change it stands still ...
  double seconds = 0;            // ... for so long by now
  int waits_for = -1;            // rank of the member it waits for; comm::PeerWait has the values for none and for one of them
  std::uint64_t generation = 0;  // that it has taken up
};

struct FailureReport {
  int rank = -1;
  Progress progress;
  ErrorCode code = ErrorCode::unknown;
  std::string text;
  bool blames_peer = false;  // the cause is elsewhere: this node only noticed that another is gone ...
  int peer = -1;             // ... of this rank, if it knows
};

}  // namespace trireme::coord
