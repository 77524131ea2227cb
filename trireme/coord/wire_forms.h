// SPDX-License-Identifier: Apache-2.0
// This module's structs in and out of messages.
#pragma once

#include <string>

#include "trireme/coord/generation.h"
#include "trireme/coord/messages.h"
#include "trireme/wire/coordination.pb.h"

namespace trireme::coord {

wire::Hello to_wire(const NodeInfo& info, const std::string& version);
wire::JobFingerprint to_wire(const JobFingerprint& fingerprint);
wire::Progress to_wire(const Progress& progress);
wire::CoordinationMessage to_wire(const Message& message);
wire::Failure to_wire(const FailureReport& report);
wire::Generation to_wire(const Generation& generation);

NodeInfo from_wire(const wire::Hello& hello);
JobFingerprint from_wire(const wire::JobFingerprint& fingerprint);
Progress from_wire(const wire::Progress& progress);
Message from_wire(const wire::CoordinationMessage& message);
FailureReport from_wire(const wire::Failure& failure);
Generation from_wire(const wire::Generation& generation);

// Throws invalid_argument.
template <class Wire>
Wire parsed(const std::string& bytes) {
  Wire out;
  if (!out.ParseFromString(bytes))
    throw Error{invalid_argument, "a message of {} bytes is not a {}", bytes.size(), Wire::descriptor()->name()};
  return out;
}

// Which connection of a node a call belongs to, and which generation: stands before the request.
struct Stamp {
  std::uint64_t ticket = 0;
  std::uint64_t generation = 0;
};
std::string stamped(const Stamp& stamp, std::string request);
Stamp take_stamp(std::string& request);  // throws invalid_argument

}  // namespace trireme::coord
