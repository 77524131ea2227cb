// SPDX-License-Identifier: Apache-2.0
// For tests: a conductor whose clock the test turns, with nodes that say what the test makes them say.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/testing/wait_until.h"
#include "trireme/coord/testing/coordinator.h"
#include "trireme/train/conductor/conductor.h"
#include "trireme/train/testing/sample_checkpoint.h"

namespace trireme::train {

// May be turned while others look at it.
class TurnableClock final : public Clock {
 public:
  Seconds now() const override { return Seconds(now_.load()); }
  void advance(Seconds by) { now_ = now_ + by.count(); }

 private:
  std::atomic<double> now_{1000};
};

// The last step that was reported.
struct LastStep final : Observer {
  void step(const StepRecord& record) override { last = record.step; }
  std::atomic<std::int64_t> last{0};
};

class ConductorTest : public testing::Test {
 protected:
  ConductorTest() {
    options_.job.nodes = {"0", "1", "2"};
    options_.job.checkpoint_seconds = 5;
    options_.exits = [this] {
      ++ticks_;
      const std::lock_guard lock(mutex_);
      return std::exchange(exits_, {});
    };
    options_.announced = [this](const coord::Generation& generation) {
      const std::lock_guard lock(mutex_);
      announced_ = generation;
    };
    options_.say = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      said_ += line + "\n";
    };
  }
  // All nodes are gone, and the user pressed Ctrl-C. Not in a destructor: the conductor still calls what a test has defined.
  void TearDown() override {
    stop_ = 1;
    nodes_.clear();
    while (result_.valid() && result_.wait_for(std::chrono::milliseconds(5)) == std::future_status::timeout) clock_.advance(Seconds(1));
  }

  void start() {
    result_ = std::async(std::launch::async, [this] { return conductor_.run(coordinator_, options_, observer_, stop_); });
  }

  void join(const std::string& name) {
    coord::Membership node = coord::join(coordinator_, name);
    node.ready(coord::kFingerprint);
    nodes_.insert_or_assign(name, std::move(node));
  }
  // Breaks its connection; returns when the conductor has seen that.
  void kill(const std::string& name) {
    nodes_.erase(name);
    const auto is_gone = [&] {
      const auto here = coordinator_.nodes();
      return std::ranges::find(here, name) == here.end();
    };
    EXPECT_TRUE(wait_until(is_gone));
    pass_ticks();
  }
  // All members of generation `number` receive it, and the first of them enters.
  void enter(std::uint64_t number) {
    ASSERT_TRUE(wait_until([&] { return announced().number == number; })) << said();
    const coord::Generation generation = announced();
    for (const coord::Member& member : generation.members) nodes_.at(member.node).await_generation(number - 1, coord::kPatience);
    nodes_.at(generation.members.front().node).send({.kind = std::string(kEnteredReport), .bytes = pack(Cursor{})});
    pass_ticks();
  }
  // Another came: all are asked to pause, do so, and enter generation `number`.
  void enter_regrouped(std::uint64_t number) {
    const std::string lead = announced().members.front().node;
    ASSERT_TRUE(wait_until([&] {
      const auto asked = requests_to(lead);
      return std::ranges::any_of(asked, &Requests::regroup);
    }));
    nodes_.at(lead).send({.kind = std::string(kPausedReport), .bytes = pack(Cursor{})});
    enter(number);
  }
  // The lost are named and left out after 0.3 s.
  void settle() { pass(0.31); }
  void pass(double seconds) {
    clock_.advance(Seconds(seconds));
    pass_ticks();
  }
  // When this returns, everything that had happened before has been received, and acted upon.
  void pass_ticks() {
    constexpr int kListenTendListen = 3;
    const int before = ticks_;
    EXPECT_TRUE(wait_until([&] { return ticks_ >= before + kListenTendListen; }));
  }
  // That a node has got since the last time.
  std::vector<Requests> requests_to(const std::string& name) {
    pass_ticks();
    coordinator_.send(name, {.kind = "so far", .bytes = {}});
    std::vector<Requests> out;
    for (;;) {
      const auto message = nodes_.at(name).receive(coord::kPatience);
      if (!message || message->kind == "so far") return out;
      if (message->kind == kRequest) out.push_back(unpack_requests(message->bytes));
      if (message->kind == kRecorded) acknowledged_[name] = unpack_cursor(message->bytes).step;
    }
  }
  int checkpoints_asked_of(const std::string& name) {
    int count = 0;
    for (const Requests& requests : requests_to(name)) count += requests.checkpoint ? 1 : 0;
    return count;
  }
  // The last step that the node knows to be written.
  std::int64_t acknowledged_to(const std::string& name) {
    requests_to(name);
    return acknowledged_[name];
  }
  void hand_in_checkpoint(const std::string& name, std::int64_t step) {
    Checkpoint checkpoint = sample_checkpoint(graph_, step);
    checkpoint.generation = static_cast<std::int64_t>(announced().number);
    hand_in(checkpoint,
            [&](std::string piece) { return nodes_.at(name).call(std::string(kPutCheckpoint), std::move(piece), coord::kPatience); });
    pass_ticks();
  }

  coord::Generation announced() {
    const std::lock_guard lock(mutex_);
    return announced_;
  }
  std::string said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  coord::Coordinator::Options coordinator_options() {
    coord::Coordinator::Options out = coord::coordinator_options();
    out.methods = conductor_.methods();
    return out;
  }

  const graph::Graph graph_ = sample_graph();
  TurnableClock clock_;
  std::atomic<int> stop_{0};
  std::atomic<bool> disk_is_full_{false};
  Conductor conductor_{1 << 20,
                       [this](const Checkpoint& checkpoint) {
                         if (disk_is_full_) throw Error{resource_exhausted, "the disk is full"};
                         return CheckpointRecord{.step = checkpoint.cursor.step};
                       },
                       clock_};
  coord::Coordinator coordinator_{coordinator_options()};
  ConductorOptions options_;
  LastStep observer_;
  std::map<std::string, std::int64_t> acknowledged_;
  std::mutex mutex_;
  std::vector<NodeExit> exits_;
  coord::Generation announced_;
  std::string said_;
  std::atomic<int> ticks_{0};
  std::map<std::string, coord::Membership> nodes_;
  std::future<SessionResult> result_;
};

}  // namespace trireme::train
