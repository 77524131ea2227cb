// SPDX-License-Identifier: Apache-2.0
// The coordinator's end of a stream.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include "trireme/rpc/stream_end.h"

namespace trireme::rpc {

// Keeps itself alive until gRPC is done with it.
class ServerSession final : public StreamEnd<grpc::ServerGenericBidiReactor> {
 public:
  explicit ServerSession(grpc::GenericCallbackServerContext* context) : context_(context) {}

  void start(SessionListener listener) {
    self_ = shared_from_this();
    listener_ = std::move(listener);
    start_reading();
  }

  void OnReadDone(bool ok) override {
    // What comes after this side has closed the stream is not read any more.
    if (is_finished()) return;
    StreamEnd::OnReadDone(ok);
  }

  void OnDone() override {
    const auto self = std::move(self_);
    // A stream that this side closed is cancelled all the same if the peer is gone by then: what counts is what happened first.
    Error why = closing_ ? *closing_ : cancelled_ ? Error{unavailable, "connection closed"} : Error{ok, "closed"};
    listener_.closed(why);
    listener_ = {};
  }
  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }

 private:
  void end_writing(const Error& why) override { finish(status_of(why)); }
  void end_reading() override { finish(grpc::Status::OK); }
  void cancel() override { context_->TryCancel(); }

  bool is_finished() {
    const std::lock_guard lock(mutex_);
    return finished_;
  }

  void finish(const grpc::Status& status) {
    if (!finished_) Finish(status);
    finished_ = true;
  }

  grpc::GenericCallbackServerContext* context_;
  std::shared_ptr<StreamEnd> self_;
  bool finished_ = false;
  bool cancelled_ = false;
};

}  // namespace trireme::rpc
