// SPDX-License-Identifier: Apache-2.0
// A server's end of a stream.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <memory>
#include <mutex>

#include "trireme/rpc/stream_end.h"

namespace trireme::rpc {

template <class Kind>
class ServerEnd final : public StreamEnd<grpc::ServerGenericBidiReactor, Kind> {
 public:
  ServerEnd(grpc::GenericCallbackServerContext* context, std::shared_ptr<OpenStreams> streams, std::shared_ptr<TrafficCounter> traffic)
      : Base(std::move(streams), std::move(traffic)), context_(context) {}

  void start(typename Kind::Listener listener) {
    this->begin(std::move(listener));
    this->start_reading();
  }

  void OnReadDone(bool ok) override {
    // What comes after this side has closed the stream is not read any more.
    if (is_finished()) return;
    Base::OnReadDone(ok);
  }

  void OnDone() override { this->end(reason()); }
  void OnCancel() override {
    const std::lock_guard lock(this->mutex_);
    cancelled_ = true;
  }

 private:
  using Base = StreamEnd<grpc::ServerGenericBidiReactor, Kind>;

  void end_writing(const Error& why) override { finish(status_of(why)); }
  // The peer receives the reason, after the message that is under way.
  void break_off(const Error& why) override {
    if (!this->writing_) finish(status_of(why));
  }
  void end_reading() override { finish(grpc::Status::OK); }
  void cancel() override { context_->TryCancel(); }

  // A stream that this side closed is cancelled all the same if the peer is gone by then: what counts is what happened first.
  Error reason() {
    const std::lock_guard lock(this->mutex_);
    if (this->closing_) return *this->closing_;
    return cancelled_ ? Error{unavailable, "connection closed"} : Error{ok, "closed"};
  }

  bool is_finished() {
    const std::lock_guard lock(this->mutex_);
    return finished_;
  }

  void finish(const grpc::Status& status) {
    if (!finished_) this->Finish(status);
    finished_ = true;
  }

  grpc::GenericCallbackServerContext* context_;
  bool finished_ = false;
  bool cancelled_ = false;
};

}  // namespace trireme::rpc
