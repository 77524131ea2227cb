// SPDX-License-Identifier: Apache-2.0
// Structs in and out of messages, field by field.
#include "trireme/coord/wire_forms.h"

#include <bit>
#include <cstring>

namespace trireme::coord {

static_assert(std::endian::native == std::endian::little, "a stamp travels as it stands in memory");

wire::Hello to_wire(const NodeInfo& info, const std::string& version) {
  wire::Hello out;
  out.set_version(version);
  out.set_host(info.host);
  out.set_address(info.address);
  out.set_cores(info.cores);
  out.set_process(info.process);
  return out;
}

wire::JobFingerprint to_wire(const JobFingerprint& fingerprint) {
  wire::JobFingerprint out;
  out.set_version(fingerprint.version);
  out.set_job(fingerprint.job);
  out.set_model(fingerprint.model);
  out.set_data(fingerprint.data);
  return out;
}

wire::Progress to_wire(const Progress& progress) {
  wire::Progress out;
  out.set_step(progress.step);
  out.set_phase(progress.phase);
  out.set_moves(progress.moves);
  out.set_seconds(progress.seconds);
  out.set_waits_for(progress.waits_for + 1);  // none is proto3's default; "one of them", -2, becomes -1
  return out;
}

wire::CoordinationMessage to_wire(const Message& message) {
  if (message.kind.size() + message.bytes.size() > kMessageBytes)
    throw Error{invalid_argument, "a message '{}' of {} bytes is too long: {} are allowed", message.kind, message.bytes.size(),
                kMessageBytes};
  wire::CoordinationMessage out;
  out.set_kind(message.kind);
  out.set_bytes(message.bytes);
  return out;
}

wire::Failure to_wire(const FailureReport& report) {
  wire::Failure out;
  out.set_rank(report.rank);
  *out.mutable_progress() = to_wire(report.progress);
  out.set_code(static_cast<int>(report.code));
  out.set_text(report.text);
  out.set_blames_peer(report.blames_peer);
  out.set_peer(report.peer);
  return out;
}

wire::Generation to_wire(const Generation& generation) {
  wire::Generation out;
  out.set_number(generation.number);
  for (const Member& member : generation.members) {
    wire::GenerationMember& to = *out.add_members();
    to.set_node(member.node);
    to.set_host(member.host);
    to.set_address(member.address);
  }
  out.set_plan(generation.plan);
  return out;
}

NodeInfo from_wire(const wire::Hello& hello) {
  return {.host = hello.host(), .address = hello.address(), .cores = hello.cores(), .process = hello.process()};
}

JobFingerprint from_wire(const wire::JobFingerprint& fingerprint) {
  return {.version = fingerprint.version(), .job = fingerprint.job(), .model = fingerprint.model(), .data = fingerprint.data()};
}

Progress from_wire(const wire::Progress& progress) {
  return {.step = progress.step(),
          .phase = progress.phase(),
          .moves = progress.moves(),
          .seconds = progress.seconds(),
          .waits_for = progress.waits_for() - 1};
}

Message from_wire(const wire::CoordinationMessage& message) { return {.kind = message.kind(), .bytes = message.bytes()}; }

FailureReport from_wire(const wire::Failure& failure) {
  const bool known = failure.code() > 0 && failure.code() <= static_cast<int>(ErrorCode::unauthenticated);
  return {.rank = failure.rank(),
          .progress = from_wire(failure.progress()),
          .code = known ? static_cast<ErrorCode>(failure.code()) : ErrorCode::unknown,
          .text = failure.text(),
          .blames_peer = failure.blames_peer(),
          .peer = failure.peer()};
}

Generation from_wire(const wire::Generation& generation) {
  Generation out{.number = generation.number(), .plan = generation.plan()};
  for (const auto& member : generation.members())
    out.members.push_back({.node = member.node(), .host = member.host(), .address = member.address()});
  return out;
}

std::string stamped(const Stamp& stamp, std::string request) {
  request.insert(0, reinterpret_cast<const char*>(&stamp), sizeof stamp);
  return request;
}

Stamp take_stamp(std::string& request) {
  Stamp stamp;
  if (request.size() < sizeof stamp) throw Error{invalid_argument, "a call of {} bytes carries no generation", request.size()};
  std::memcpy(&stamp, request.data(), sizeof stamp);
  request.erase(0, sizeof stamp);
  return stamp;
}

}  // namespace trireme::coord
