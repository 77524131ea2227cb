// SPDX-License-Identifier: Apache-2.0
// Memory of a sender that gRPC still looks at.
#pragma once

#include <grpcpp/alarm.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/rpc/grpc_bytes.h"

namespace trireme::rpc {

// A stream may be over while a connection still writes what was sent on it, and the sender may use its memory again only after that.
class Loans : public std::enable_shared_from_this<Loans> {
 public:
  void lend() { ++out_; }
  void give_back() {
    if (--out_ == 0) call_later();
  }
  // Nothing more is lent; `then` is called when everything is back: now, or by a thread of gRPC's.
  void settle(std::function<void()> then) {
    self_ = shared_from_this();
    then_ = std::move(then);
    if (--out_ == 0) call();
  }

 private:
  void call() {
    const auto self = std::move(self_);
    then_();
    then_ = {};
  }
  // gRPC gives slices back from deep inside, where nothing of ours should run.
  void call_later() {
    alarm_.emplace().Set(deadline_in(Seconds{0}), [this](bool) { call(); });
  }

  std::atomic<std::size_t> out_ = 1;  // one for the stream itself
  std::function<void()> then_;
  std::optional<grpc::Alarm> alarm_;
  std::shared_ptr<Loans> self_;
};

}  // namespace trireme::rpc
