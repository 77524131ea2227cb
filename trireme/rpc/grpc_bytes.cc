// SPDX-License-Identifier: Apache-2.0
// Conversions between gRPC's types and ours.
#include "trireme/rpc/grpc_bytes.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/support/slice.h>
#include <malloc.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "trireme/base/files.h"

namespace trireme::rpc {
namespace {

// A status travels among the headers, which are bounded.
constexpr std::size_t kMaxMessage = 4000;

constexpr int kLargestKept = 8 << 20;  // messages have 4 MiB at most
constexpr int kMaxKept = 32 << 20;     // for each of malloc's arenas; main() limits their number

void write_bugs_only(gpr_log_func_args* line) {
  if (std::strstr(line->message, "assertion failed") != nullptr)
    std::fprintf(stderr, "gRPC, %s:%d: %s\n", line->file, line->line, line->message);
}

// To the caller, "unavailable" means that this end is gone; a disk of this machine is not.
ErrorCode code_for_peer(const Error& error) {
  const bool is_own = dynamic_cast<const SystemError*>(&error) != nullptr;
  return is_own && error.code() == unavailable ? internal : error.code();
}

}  // namespace

grpc::ByteBuffer buffer_of(std::string bytes) {
  if (bytes.empty()) {
    const grpc::Slice nothing;
    return {&nothing, 1};
  }
  auto* owned = new std::string(std::move(bytes));
  const grpc::Slice slice(
      owned->data(), owned->size(), [](void* text) { delete static_cast<std::string*>(text); }, owned);
  return {&slice, 1};
}

std::string bytes_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) throw Error{data_loss, "a message could not be read"};
  std::string bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

grpc::Status status_of(const Error& error) {
  return {static_cast<grpc::StatusCode>(code_for_peer(error)), std::string(error.what()).substr(0, kMaxMessage)};
}

Error error_of(const grpc::Status& status) { return Error{static_cast<ErrorCode>(status.error_code()), "{}", status.error_message()}; }

void keep_freed_blocks() {
  ::mallopt(M_MMAP_THRESHOLD, kLargestKept);
  ::mallopt(M_TRIM_THRESHOLD, kMaxKept);
}

void prepare_grpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(write_bugs_only);
    ::grpc_init();
  });
}

}  // namespace trireme::rpc
