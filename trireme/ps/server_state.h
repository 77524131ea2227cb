// SPDX-License-Identifier: Apache-2.0
// What a parameter server is made of; for its own files only.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "trireme/ps/connection.h"
#include "trireme/ps/frames.h"
#include "trireme/ps/holdings.h"
#include "trireme/ps/pace.h"
#include "trireme/ps/server.h"

namespace trireme::ps {

// Wakes the thread that sends what had to wait. Outlives the server, as messages do.
struct Waker {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_due = false;
  bool has_ended = false;

  void wake() {
    const std::lock_guard lock(mutex);
    is_due = true;
    changed.notify_all();
  }
};

// Values on their way to a worker. Let go of deep inside of gRPC, where nothing may be sent.
class Loan {
 public:
  Loan(std::shared_ptr<const float[]> memory, std::shared_ptr<Connection> connection, std::shared_ptr<Waker> waker)
      : memory_(std::move(memory)), connection_(std::move(connection)), waker_(std::move(waker)) {
    ++connection_->on_the_way;
  }
  ~Loan() {
    memory_.reset();
    --connection_->on_the_way;
    if (connection_->is_starved) waker_->wake();
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

 private:
  std::shared_ptr<const float[]> memory_;
  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<Waker> waker_;
};

// Locks, in the order they may be taken: stretch_mutex, work_mutex or desk_mutex, those of Holdings or of a Connection. Nothing is sent
// and no listener is called with any of them held.
struct Server::State : std::enable_shared_from_this<Server::State> {
  explicit State(Setup given);

  // A worker of this generation. By desk_mutex.
  struct Member {
    std::string name;
    std::size_t seat = 0;
    std::shared_ptr<Connection> connection;
    std::uint64_t paced = 0;  // the push that Pace has counted
    bool is_whole = false;    // its latest push is all here
    std::vector<Reply> held;  // until it may go on
    Seconds held_since{0};
  };
  // How much of a worker's latest push is decided. By desk_mutex.
  struct Progress {
    std::uint64_t id = 0;
    std::int64_t lease = 0, samples = 0;
    std::size_t pieces = 0;
    std::size_t applied = 0;  // pieces that it changed
    bool taken = false;
  };

  // server.cc
  void enter(Stretch next, const std::vector<std::int64_t>* kept);
  void end();
  Connections seat_workers();
  void regroup_work();
  Applied applied_of(const std::string& worker, const Progress& push) const;
  std::optional<Applied> close_push(const LostLease& lease);
  void set_needed();
  void set_share();

  // server_streams.cc
  void received(const std::shared_ptr<Connection>& from, const rpc::Incoming& message);
  void closed(const std::shared_ptr<Connection>& connection);
  void refuse_for_good(const Error& why);
  Connections handle(const std::shared_ptr<Connection>& from, const Frame& frame, const rpc::Incoming& message);
  std::shared_ptr<Connection> greet(const std::shared_ptr<Connection>& from, const Frame& frame);
  bool is_retired(const Connection& from);
  void trace_push(Connection& from, const Frame& frame) const;
  Connections receive_push(Connection& from, const Frame& frame, const rpc::Incoming& message);
  std::shared_ptr<float[]> receive_values(Connection& from, std::size_t piece, const Frame& frame, const rpc::Incoming& message);
  Connections fetch(const std::shared_ptr<Connection>& from, const Frame& frame) const;
  Frame grant(const Connection& from);
  Frame note(const Connection& from, const Frame& frame);
  Connections retire(Connection& from);
  std::size_t own_piece(const Connection& from, std::uint32_t piece) const;

  // server_answers.cc
  Connections answer(const std::vector<Verdict>& verdicts, const Connection* from);
  std::vector<Applied> count(const std::vector<Verdict>& verdicts);
  void route(const Verdict& verdict, const Connection* from, Connections& touched);
  void pace(const Connection& from, std::size_t number, Connections& touched);
  void release(Connections& touched);
  void go_on(std::size_t number, Connections& touched);
  void flush(const std::shared_ptr<Connection>& connection);
  void send(const std::shared_ptr<Connection>& to, Reply reply, Holdings::Copy copy);
  void flush_starved();

  const Setup setup;
  const std::shared_ptr<Waker> waker = std::make_shared<Waker>();
  Holdings holdings;
  std::atomic<std::int64_t> share = 1;  // of replies on the way, for each worker
  std::vector<std::size_t> own;         // by number of a piece in the map: which of the holdings it is; kNotOurs

  std::atomic<std::uint64_t> generation = 0;  // 0: no node is welcome
  std::shared_mutex stretch_mutex;            // shared: something is being done in this stretch; alone: it changes
  Stretch stretch;
  std::map<std::string, std::size_t> seats;  // by name; never fewer

  std::mutex desk_mutex;
  std::condition_variable desk_changed;
  std::vector<Member> members;         // by number
  std::vector<Progress> progress;      // by seat
  std::vector<std::size_t> number_of;  // by seat; kNotOurs
  Pace clocks;
  Connections connections;       // all that are open
  std::optional<Error> refusal;  // of values that are not finite
  ServerLoad load;               // but for what follows
  Seconds load_since;

  std::atomic<std::int64_t> busy_nanoseconds = 0, bytes_in = 0, bytes_out = 0;

  mutable std::mutex work_mutex;
  std::optional<Ledger> ledger;
  std::vector<WorkDone> done;
  std::map<std::int64_t, std::size_t> takers;  // seats by lease, of those that are out
  std::vector<std::int64_t> kept;              // leases that a worker goes on with, while the others are not settled

  std::thread sender;

  // Adds the time it lives to what this server was busy.
  class Busy {
   public:
    explicit Busy(State& state) : state_(state), begin_(state.setup.clock.now()) {}
    ~Busy() { state_.busy_nanoseconds += static_cast<std::int64_t>((state_.setup.clock.now() - begin_).count() * 1e9); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    State& state_;
    const Seconds begin_;
  };

  static constexpr std::size_t kNotOurs = static_cast<std::size_t>(-1);
  static constexpr std::int64_t kUrgent = std::int64_t{1} << 62;
};

}  // namespace trireme::ps
