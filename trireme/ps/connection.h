// SPDX-License-Identifier: Apache-2.0
// A server's end of a worker's stream, and the answers that may go out on it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/ps/frames.h"

namespace trireme::ps {

// Something that a worker is to be sent, with values as they are when it goes out.
struct Reply {
  std::size_t piece = 0;  // of this server's: lower ones are needed first
  Frame frame;            // but for the version
};

struct Connection {
  Connection(std::string worker, std::shared_ptr<rpc::BulkSession> stream) : name(std::move(worker)), session(std::move(stream)) {}

  const std::string name;
  const std::shared_ptr<rpc::BulkSession> session;

  // Only for the thread in received(), but once it is known what hello said stays:
  std::atomic<bool> is_known = false;
  std::uint64_t generation = 0;
  bool is_reader = false;  // it only fetches
  std::size_t number = 0;
  std::size_t seat = 0;
  // The push that is coming, and which pieces of it have:
  std::uint64_t push = 0;
  std::size_t arrived = 0;
  std::vector<std::uint64_t> latest;  // push that came to each piece
  // The one that is reported, and when its first values came:
  std::uint64_t traced = 0;
  double traced_since = 0;

  // Pushes that come in parts.
  struct Assembly {
    std::uint64_t id = 0;
    std::int64_t end = 0;  // values that are here
    std::shared_ptr<float[]> memory;
  };
  std::map<std::size_t, Assembly> assemblies;  // by piece

  // Replies whose memory is still in use, and whether more wait for them to be through.
  std::atomic<std::int64_t> on_the_way = 0;
  std::atomic<bool> is_starved = false;

  void add(const Reply& reply) {
    const std::lock_guard lock(mutex_);
    replies_.push_back(reply);
    std::push_heap(replies_.begin(), replies_.end(), later);
  }
  std::optional<Reply> next() {
    const std::lock_guard lock(mutex_);
    if (replies_.empty()) return std::nullopt;
    std::pop_heap(replies_.begin(), replies_.end(), later);
    Reply reply = replies_.back();
    replies_.pop_back();
    return reply;
  }

 private:
  static bool later(const Reply& a, const Reply& b) { return a.piece > b.piece; }

  std::mutex mutex_;
  std::vector<Reply> replies_;  // a heap
};

using Connections = std::vector<std::shared_ptr<Connection>>;

}  // namespace trireme::ps
