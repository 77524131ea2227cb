// SPDX-License-Identifier: Apache-2.0
// A worker's side of the servers: pushes gradients piece by piece as backward finishes them, and has the new values when forward needs
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/comm/cancellation.h"
#include "trireme/observe/spans.h"
#include "trireme/ps/frames.h"
#include "trireme/ps/ledger.h"
#include "trireme/ps/rules.h"
#include "trireme/ps/server.h"
#include "trireme/ps/shard_map.h"

namespace trireme::ps {

// What a worker reports of its step when it is through.
struct StepReport {
  std::int64_t samples = 0, correct = 0;
  double loss = 0, penalty = 0;
  double compute_seconds = 0, wait_seconds = 0, seconds = 0;
  bool is_skipped = false;  // its push was void
};

// Waits throw unavailable if a server is gone (missed_server() says which), out_of_range if one refused values that are not finite,
// deadline_exceeded after the timeout, cancelled if the cancellation says so. ready() never throws: a fault is thrown by the next wait,
// when all gradients are complete and can be pushed again.
class Client {
 public:
  struct Setup {
    const ParameterSpace& space;
    std::shared_ptr<const ShardMap> map;
    Rules rules;
    std::span<float> parameters;       // of the whole space: values that come are written here
    std::span<const float> gradients;  // of the whole space
    Seconds timeout{60};
    const Clock& clock;
    std::function<void(std::uint64_t id)> acknowledged = {};  // every server has answered; for event journals; may be empty
    std::string name = {};                                    // of this worker, as servers know it; only for ...
    observe::Spans* spans = nullptr;                          // ... what is recorded of pushes while it is on; may be null
  };
  explicit Client(Setup setup);
  ~Client();

  // Opens its stream to each server, in order of their numbers, with this listener. `open` returns the session.
  using Open = std::function<std::shared_ptr<rpc::BulkSession>(int server, rpc::BulkListener listener)>;
  // For another generation: forgets the old streams first (waits until they are closed: bodies lie in our gradients). A push that was not
  // acknowledged by all is then sent again, with the id it had: see unfinished().
  void connect(std::uint64_t generation, const Open& open, std::shared_ptr<const comm::Cancellation> cancellation);
  void disconnect();

  // The lease whose push is not acknowledged by all servers, if there is one; forget() gives it up, between disconnect() and connect().
  std::optional<Lease> unfinished() const;
  void forget();
  // What the lead must not give back at a regroup: the unfinished one, and those whose end it may not have received (connect reports it
  // again).
  std::vector<std::int64_t> kept() const;

  // Before the first push of a stretch: how many updates every piece has had.
  void begin_stretch(std::int64_t updates);

  void fetch();                                                            // all parameters, as they are at the servers; waits
  void fetch_slots(std::vector<std::span<float>> slots, int except = -1);  // not those of server `except`; waits

  // The next piece of work; nothing: no more in this stretch, but with backup workers ask again after settle(), for a lease whose push was
  // dropped. Asks the lead (server 0) ahead by one. Waits. One thread calls it; another may push.
  std::optional<Lease> next_lease();

  // A push: begin, ready for each slice in any order (by backward), then told(). learning_rate as it is to be applied. begin may come
  // before forward, while answers to the last push are still on their way; ready only after needed() of all slices.
  void begin(const Lease& lease, double learning_rate, std::int64_t samples);
  // Instead of begin and ready: a push of no gradients, which counts as one and changes nothing. In step it makes the round of all workers
  // change nothing.
  void push_void(const Lease& lease, double learning_rate, std::int64_t samples);
  // Whether the round of the last push changed nothing, as far as answers to it are here; true once for a push.
  bool reset_void();
  void ready(std::size_t slice);
  void report_step(const StepReport& report);  // after backward; the lease is reported as done when all servers have answered
  // Before forward reads the slice: waits until its values, with this worker's last push in them, are here.
  void needed(std::size_t slice);
  void settle();  // waits for all of them
  void retire();  // after settle(): no more pushes in this stretch; also starts anew what next_lease knew

  double waited() const;           // seconds in needed() and settle() in total
  double exchanged() const;        // seconds from the first piece of a push to the last answer, over all pushes that were answered
  std::int64_t staleness() const;  // of the last of them
  std::int64_t bytes_out() const;
  int missed_server() const;  // number of the server that is gone; -1: none

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace trireme::ps
