// SPDX-License-Identifier: Apache-2.0
// The version of gRPC.
#include "trireme/rpc/libraries.h"

#include <grpcpp/grpcpp.h>

namespace trireme::rpc {

std::vector<LibraryVersion> libraries() { return {{"gRPC", grpc::Version()}}; }

}  // namespace trireme::rpc
