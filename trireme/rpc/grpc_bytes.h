// SPDX-License-Identifier: Apache-2.0
// Texts, errors and settings as gRPC has them.
#pragma once

#include <grpc/grpc.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"

namespace trireme::rpc {

grpc::ByteBuffer buffer_of(std::string bytes);  // without a copy
std::string bytes_of(const grpc::ByteBuffer& buffer);

grpc::Status status_of(const Error& error);
Error error_of(const grpc::Status& status);

constexpr std::string_view kService = "/trireme/";  // stands before the name of a method
constexpr std::string_view kPing = "ping";          // every server's: any peer with a certificate of the job may call it

constexpr int kKeepaliveTimeMs = 5000;
constexpr int kKeepaliveTimeoutMs = 5000;
constexpr int kMetadataBytes = 16 << 10;

inline std::chrono::system_clock::time_point deadline_in(Seconds timeout) {
  return std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::system_clock::duration>(timeout);
}

// For connections with bulk streams, as measured on loopback (bench/ps). A window that gRPC chooses itself grows until nothing on its
// way is in a cache any more; 1 MiB is enough for 1 GB/s over a round trip of a millisecond.
constexpr int kBulkWindowBytes = 1 << 20;
constexpr int kBulkFrameBytes = 8 << 20;
template <class Set>
void set_for_bulk(Set set) {
  set(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  set(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kBulkWindowBytes);
  set(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kBulkFrameBytes);
}
// gRPC reads into a fresh block again and again; if the system has to find pages for each, that costs as much as all the rest.
// From here on this process keeps such blocks when they are freed.
void keep_freed_blocks();

// Once in a process, before its first channel or server. gRPC writes a line on stderr for each stray connection; what matters is in the
// errors. And it is kept until the process ends: its own shutdown, with the last channel or server, waits without a limit for threads
// that the system did not grant (timer_manager.cc counts them before they are made), so that a job without threads would never end.
void prepare_grpc();

}  // namespace trireme::rpc
