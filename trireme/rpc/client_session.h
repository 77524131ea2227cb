// SPDX-License-Identifier: Apache-2.0
// A node's end of a stream.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

#include "trireme/rpc/stream_end.h"

namespace trireme::rpc {

class ClientSession;

// The streams of a channel that gRPC isn't done with. A channel must end after them: the last one to let go of gRPC's channel waits
// for the threads that call back, and would wait for itself if it were one of them.
class OpenStreams {
 public:
  void add(ClientSession* stream) {
    const std::lock_guard lock(mutex_);
    streams_.insert(stream);
  }
  void remove(ClientSession* stream) {
    const std::lock_guard lock(mutex_);
    streams_.erase(stream);
    changed_.notify_all();
  }
  void end_all();  // and wait for that

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<ClientSession*> streams_;
};

// Keeps itself alive until gRPC is done with it. A read is always under way, so gRPC isn't done before it has failed.
class ClientSession final : public StreamEnd<grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>> {
 public:
  ClientSession(SessionListener listener, std::shared_ptr<OpenStreams> streams) : streams_(std::move(streams)) {
    listener_ = std::move(listener);
  }

  void start(grpc::GenericStub& stub, const std::string& method) {
    self_ = shared_from_this();
    streams_->add(this);
    stub.PrepareBidiStreamingCall(context_.get(), method, {}, this);
    start_reading();
    StartCall();
  }

  void abandon() {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }

  void OnDone(const grpc::Status& status) override {
    const auto self = std::move(self_);
    const bool cut_off = closing_ && closing_->code() == resource_exhausted;
    listener_.closed(cut_off ? *closing_ : status.ok() ? Error{ok, "closed"} : error_of(status));
    listener_ = {};
    {
      const std::lock_guard lock(mutex_);
      context_.reset();  // it shares gRPC's channel
    }
    streams_->remove(this);
  }

 private:
  void end_writing(const Error&) override { StartWritesDone(); }
  void end_reading() override {}
  void cancel() override { context_->TryCancel(); }

  const std::shared_ptr<OpenStreams> streams_;
  std::unique_ptr<grpc::ClientContext> context_ = std::make_unique<grpc::ClientContext>();
  std::shared_ptr<StreamEnd> self_;
};

inline void OpenStreams::end_all() {
  std::unique_lock lock(mutex_);
  for (ClientSession* stream : streams_) stream->abandon();
  changed_.wait(lock, [this] { return streams_.empty(); });
}

}  // namespace trireme::rpc
