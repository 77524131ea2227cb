// SPDX-License-Identifier: Apache-2.0
// A node's end of a stream.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include "trireme/rpc/stream_end.h"

namespace trireme::rpc {

// Keeps itself alive until gRPC is done with it. A read is always under way, so gRPC isn't done before it has failed.
class ClientSession final : public StreamEnd<grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>> {
 public:
  explicit ClientSession(SessionListener listener) { listener_ = std::move(listener); }

  void start(grpc::GenericStub& stub, const std::string& method) {
    self_ = shared_from_this();
    stub.PrepareBidiStreamingCall(&context_, method, {}, this);
    start_reading();
    StartCall();
  }

  void OnDone(const grpc::Status& status) override {
    const auto self = std::move(self_);
    const bool cut_off = closing_ && closing_->code() == resource_exhausted;
    listener_.closed(cut_off ? *closing_ : status.ok() ? Error{ok, "closed"} : error_of(status));
    listener_ = {};
  }

 private:
  void end_writing(const Error&) override { StartWritesDone(); }
  void end_reading() override {}
  void cancel() override { context_.TryCancel(); }

  grpc::ClientContext context_;
  std::shared_ptr<StreamEnd> self_;
};

}  // namespace trireme::rpc
