// SPDX-License-Identifier: Apache-2.0
// Texts, errors and settings as gRPC has them.
#pragma once

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

// gRPC writes a line on stderr for each stray connection; what matters is in the errors.
void silence_grpc_log();

}  // namespace trireme::rpc
