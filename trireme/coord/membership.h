// SPDX-License-Identifier: Apache-2.0
// A node's side of its membership: one connection to the coordinator, for as long as the node takes part.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/comm/cancellation.h"
#include "trireme/comm/peer_wait.h"
#include "trireme/comm/store.h"
#include "trireme/coord/clock_offset.h"
#include "trireme/coord/generation.h"
#include "trireme/coord/messages.h"
#include "trireme/rpc/credentials.h"

namespace trireme::coord {

// All calls may come from any thread. Once the membership has ended, every call but the asking ones throws why:
// unavailable (the coordinator is gone), cancelled (dismissed, or left), aborted (declared lost), failed_precondition (refused).
class Membership {
 public:
  struct Options {
    std::string coordinator;       // "10.0.0.1:4711"
    rpc::Credentials credentials;  // the first
    std::string version;
    NodeInfo info;
    std::shared_ptr<const Clock> clock = std::make_shared<SteadyClock>();
    std::function<void(const Error&)> ended;  // called once, from a thread that must not be kept, when the membership has ended
  };

  // Tries until the timeout while no process listens there; a refusal is thrown at once.
  static Membership connect(Options options, Seconds timeout);
  // After the end, if the coordinator was lost or has declared this node lost: rejoins as the same node, ready for nothing yet.
  // Tries until the timeout, also while there is still a trace of this node's former self. Other threads may use the membership
  // meanwhile: until it returns, every call but the asking ones throws why it had ended.
  void rejoin(Seconds timeout);
  ~Membership();
  Membership(Membership&&) noexcept;
  Membership& operator=(Membership&&) noexcept;

  std::string welcome() const;  // the job, from the coordinator
  std::string node() const;     // this node's name, as its certificate has it

  // Says what this node would train; a mismatch ends the membership.
  void ready(const JobFingerprint& fingerprint);
  // Waits for a generation with a greater number, of which this node is a member, and takes it up: from here on all that is
  // sent carries its number.
  Generation await_generation(std::uint64_t newer_than, Seconds timeout);
  std::uint64_t announced() const;  // the newest number received: greater than that of the one taken up if it is over
  // Of the generation taken up; its keys are refused and forgotten as soon as another is announced. Gone with rejoin().
  comm::Store& store();
  // Cancelled as soon as the generation taken up is over: another was announced, with or without this node, it was dismissed, or the
  // membership has ended.
  std::shared_ptr<const comm::Cancellation> cancellation() const;

  // This node's: the coordinator renews them long before they end.
  rpc::Credentials credentials() const;

  // What makes a reading of the clock here the coordinator's time, in seconds since 1970. Nothing for some milliseconds after
  // connect(); later it is measured anew with each heartbeat.
  std::optional<ClockOffset::Estimate> clock_offset() const;

  // Goes out with the next heartbeat. Costs a short lock; `phase` should fit into a small string.
  void at(std::int64_t step, std::string_view phase);
  // What is noted there goes out with it.
  std::shared_ptr<comm::PeerWait> peer_wait() const;
  void send(const Message& message);
  std::optional<Message> receive();  // what the coordinator has sent; never waits
  std::optional<Message> receive(Seconds timeout);
  std::string call(const std::string& method, std::string request, Seconds timeout);
  void fail(const FailureReport& report);
  void leave();  // in good order; returns when the coordinator knows, or after a second or two

  std::optional<Error> end() const;  // why it has ended
  bool dismissed() const;            // asked by the coordinator to leave; it ends with leave()
  bool lost() const;                 // the coordinator is gone

 private:
  struct State;
  explicit Membership(std::shared_ptr<State> state);
  // A share, so that what a thread is at is still there when rejoin() puts another in its place.
  std::shared_ptr<State> state() const;

  mutable std::mutex mutex_;
  std::shared_ptr<State> state_;
};

}  // namespace trireme::coord
