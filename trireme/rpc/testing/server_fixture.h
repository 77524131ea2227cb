// SPDX-License-Identifier: Apache-2.0
// For tests of a server on loopback: one with an echo, a failure, a wait and a stream, and clients with every certificate.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#include "trireme/base/host.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/rpc/authority.h"
#include "trireme/rpc/channel.h"
#include "trireme/rpc/server.h"

namespace trireme::rpc {

inline constexpr Seconds kHour{3600};
inline constexpr Seconds kPatience{10};

inline Seconds now() { return SteadyClock().now(); }

// What a listener was notified of, to be waited for.
class Diary {
 public:
  SessionListener listener() {
    return {.received = [this](std::string bytes) { write(std::move(bytes)); },
            .closed = [this](const Error& why) { write(fmt::format("closed: {}: {}", name_of(why.code()), why.what())); }};
  }
  std::string next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [this] { return read_ < lines_.size(); })) return "nothing";
    return lines_[read_++];
  }

 private:
  void write(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::size_t read_ = 0;
};

class ServerTest : public testing::Test {
 protected:
  Credentials credentials(const std::string& role, const std::string& name = "0") const {
    return authority_.issue({.role = role, .name = name}, {"127.0.0.1"}, kHour);
  }

  Server::Options options() {
    const auto echo = [](const Peer& peer, const std::string& request) { return peer.identity.name + ":" + request; };
    const auto fail = [](const Peer&, const std::string& request) -> std::string {
      throw Error{static_cast<ErrorCode>(std::stoi(request)), "{}", "grün und \"blau\"\nzwei Zeilen"};
    };
    const auto wait = [this](const Peer&, const std::string&) {
      waiting_.count_down();
      entered_.release();
      release_.wait_for(kPatience);
      return std::string("released");
    };
    return {.addresses = {"127.0.0.1", "127.0.0.2"},
            .credentials = credentials("coordinator"),
            .methods = {{.name = "echo", .roles = {"node"}, .handler = echo},
                        {.name = "fail", .roles = {"node"}, .handler = fail},
                        {.name = "stop", .roles = {"coordinator"}, .handler = echo},
                        {.name = "wait", .roles = {"node"}, .handler = wait},
                        {.name = "large",
                         .roles = {"node"},
                         .handler = [](const Peer&, const std::string& size) { return std::string(std::stoul(size), 'x'); }}},
            .streams = {{.name = "talk", .roles = {"node"}, .opened = [this](const Peer& peer, const std::shared_ptr<Session>& session) {
                           if (peer.identity.name == "unloved") throw Error{already_exists, "go away"};
                           session_.set_value(session);
                           return diary_.listener();
                         }}}};
  }

  static std::string address(const Server& server, const std::string& host = "127.0.0.1") { return join_host_port(host, server.port()); }
  Channel channel(const Server& server, const std::string& name = "0") const {
    return Channel::connect(address(server), credentials("node", name), kPatience);
  }
  static std::string connection_error(const Server& server, const Credentials& with) {
    return thrown_error([&] { Channel::connect(address(server), with, kPatience); });
  }

  const Authority authority_ = Authority::create();
  std::latch waiting_{100};
  std::counting_semaphore<> entered_{0};
  std::promise<void> released_;
  std::shared_future<void> release_ = released_.get_future().share();
  Diary diary_;
  std::promise<std::shared_ptr<Session>> session_;
};

}  // namespace trireme::rpc
