// SPDX-License-Identifier: Apache-2.0
// The end of a stream at the side that opened it.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <mutex>

#include "trireme/rpc/stream_end.h"

namespace trireme::rpc {

// A read is always under way, so gRPC isn't done with it before that has failed.
template <class Kind>
class ClientEnd final : public StreamEnd<grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>, Kind> {
 public:
  ClientEnd(std::shared_ptr<OpenStreams> streams, std::shared_ptr<TrafficCounter> traffic) : Base(std::move(streams), std::move(traffic)) {}

  void start(grpc::GenericStub& stub, const std::string& method, typename Kind::Listener listener) {
    this->begin(std::move(listener));
    stub.PrepareBidiStreamingCall(context_.get(), method, {}, this);
    this->start_reading();
    this->StartCall();
  }

  void OnDone(const grpc::Status& status) override {
    const Error why = this->cut_off_ ? *this->closing_ : status.ok() ? Error{ok, "closed"} : error_of(status);
    {
      const std::lock_guard lock(this->mutex_);
      context_.reset();  // it shares gRPC's channel
    }
    this->end(why);
  }

 private:
  using Base = StreamEnd<grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>, Kind>;

  void end_writing(const Error&) override { this->StartWritesDone(); }
  void break_off(const Error&) override {
    this->cut_off_ = true;
    cancel();
  }
  void end_reading() override {}
  void cancel() override {
    if (context_ != nullptr) context_->TryCancel();
  }

  std::unique_ptr<grpc::ClientContext> context_ = std::make_unique<grpc::ClientContext>();
};

}  // namespace trireme::rpc
