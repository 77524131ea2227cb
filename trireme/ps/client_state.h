// SPDX-License-Identifier: Apache-2.0
// What a worker's side of the servers is made of; for its own files only.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "trireme/ps/client.h"
#include "trireme/ps/frames.h"

namespace trireme::ps {

// A stream to a server.
struct Link {
  int server = 0;
  std::shared_ptr<rpc::BulkSession> session;
  bool is_closed = false;
  bool is_leaving = false;  // we close it ourselves
};

// What a thread waits for, as long as it does; with the mutex held.
class Waiting {
 public:
  using All = std::vector<const std::function<bool()>*>;
  Waiting(All& all, const std::function<bool()>& done) : all_(all), done_(done) { all_.push_back(&done_); }
  ~Waiting() { std::erase(all_, &done_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  All& all_;
  const std::function<bool()>& done_;
};

// Nothing is sent, and no listener is called, with the mutex held.
struct Client::State : std::enable_shared_from_this<Client::State> {
  explicit State(Setup given);

  // Gradients of a lease on their way.
  struct Push {
    std::uint64_t id = 0;
    Lease lease;
    double rate = 0;
    std::int64_t samples = 0;
    std::vector<char> is_ready;          // by slice
    std::vector<std::uint32_t> missing;  // by piece: slices that are not ready
    std::vector<char> is_sent;           // by piece, on these streams
    std::vector<std::int64_t> versions;  // by piece: of the values it was computed with, once it was sent; before: -1
    std::size_t answered = 0;            // pieces
    bool is_acknowledged = false;        // by all, and reported so
    bool taken = false;                  // by any piece
    bool is_reported = false;            // to the lead
    bool is_void = false;                // it has no gradients
    bool was_void = false;               // its round changed nothing
    bool is_void_known = false;          // to the worker that pushed it
    std::int64_t staleness = 0;
    Seconds submitted{-1};  // when its first piece was sent
    std::optional<StepReport> report;
    // For spans: the way to one server and back.
    struct Trip {
      double begin = 0;
      std::size_t answered = 0;  // pieces
    };
    std::map<int, Trip> trips;  // only if it is traced
  };
  struct Sending {
    std::shared_ptr<Link> link;
    Frame frame;
    std::size_t piece = kNoPiece;  // whose gradients are to be the body
  };
  // What to do when the mutex is free again.
  struct Todo {
    std::vector<Sending> sendings;
    std::uint64_t acknowledged = 0;
  };
  static constexpr std::size_t kNoPiece = static_cast<std::size_t>(-1);
  static constexpr std::size_t kFetchedAtOnce = 32;  // pieces
  static constexpr std::int64_t kUrgent = std::int64_t{1} << 62;

  // client.cc
  template <class Done>
  void wait(std::unique_lock<std::mutex>& lock, const Done& done, const char* what);
  void wake();  // those who have what they wait for: values come in hundreds of pieces
  void carry_out(Todo todo);
  void send(Sending& sending);
  void send_gradients(Sending& sending);
  void ask();
  void queue_frame(const Frame& frame, std::size_t server, Todo& todo) const;  // puts it into `todo`

  // client_push.cc
  void begin(const Lease& lease, double rate, std::int64_t samples, bool is_void);
  void start(Push push, Todo& todo);
  Push new_push(const Lease& lease, double rate, std::int64_t samples);
  void send_ready(std::size_t piece, Todo& todo);
  void answered(std::size_t piece, const Frame& frame, Todo& todo);
  void advance(Todo& todo);
  void report(Push& push, Todo& todo);
  void send_again(Todo& todo);
  std::int64_t version_of(const Push& push, std::size_t piece) const;
  void trace_answer(Push& push, std::size_t piece) const;
  bool is_settled() const;
  bool has_dropped() const;  // a lease, and the lead may not have been notified

  // client_links.cc
  void connect(std::uint64_t next, const Open& open, std::shared_ptr<const comm::Cancellation> cancel);
  void disconnect();
  void received(const std::shared_ptr<Link>& link, const rpc::Incoming& message);
  void closed(const std::shared_ptr<Link>& link, const Error& why);
  std::span<float> place_of(const Link& link, const Frame& frame, std::span<float> in) const;
  void receive_values(const Link& link, const Frame& frame, const rpc::Incoming& message);
  void receive_fetched(const Link& link, const Frame& frame, const rpc::Incoming& message);
  void fetch(int slot, int except);

  const Setup setup;
  const std::size_t pieces;
  std::vector<std::byte> staging;  // rounded gradients of the whole space; empty for f32

  mutable std::mutex mutex;
  std::condition_variable changed;
  Waiting::All waits;
  std::shared_ptr<const comm::Cancellation> cancellation;
  std::vector<std::shared_ptr<Link>> links;
  std::optional<Error> fault;
  int missed = -1;
  std::uint64_t generation = 0;
  std::uint64_t counter = 0;

  std::int64_t updates = 0;
  std::vector<std::int64_t> versions;  // by piece: of what lies in setup.parameters
  std::vector<char> is_awaited;        // by piece: it was sent, and its new values are not here ...
  std::vector<std::int64_t> arrived;   // ... but so many
  std::optional<Push> active;
  std::optional<Push> upcoming;           // begun before `active` was answered
  std::map<std::int64_t, Frame> reports;  // by lease: that the lead may not have got

  bool is_asking = false;
  bool has_no_more = false;
  std::deque<Lease> granted;

  std::int64_t fetching = 0;  // values
  std::vector<std::span<float>> fetched_slots;

  double waited = 0;
  double exchanged = 0;
  std::int64_t staleness = 0;  // of the last push that was answered
  std::atomic<std::int64_t> bytes_out = 0;
};

}  // namespace trireme::ps
