// SPDX-License-Identifier: Apache-2.0
// A node's stream to the coordinator, and what it knows from it.
#include "trireme/coord/membership.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "trireme/base/digest.h"
#include "trireme/coord/heartbeat.h"
#include "trireme/coord/wire_forms.h"
#include "trireme/rpc/channel.h"

namespace trireme::coord {
namespace {

constexpr Seconds kStoreCall{10};  // beyond what a call of the store is allowed to wait
constexpr Seconds kFarewell{2};
constexpr Seconds kRejoinPause{0.3};
// The coordinator has more to do than to beat in time: it is given longer than a node.
constexpr double kCoordinatorSilences = 2;
constexpr int kFirstTrips = 8;  // one after another, so that the clocks are known from the start

}  // namespace

struct Membership::State final : comm::Store {
  State(Options with, rpc::Channel through)
      : options(std::move(with)),
        name(rpc::identity_of_certificate(options.credentials.certificate).name),
        credentials(options.credentials),
        channel(std::make_shared<rpc::Channel>(std::move(through))) {}

  Seconds now() const { return options.clock->now(); }

  // What the coordinator says, on gRPC's threads.
  void received(const std::string& bytes) {
    const Seconds time = now();
    try {
      auto message = parsed<wire::ToNode>(bytes);
      if (message.has_clock_echo()) on_clock_echo(message.clock_echo(), time);
      handle(message);
      if (message.has_renewal()) wipe(*message.mutable_renewal()->mutable_private_key());
    } catch (const Error& error) {  // a handler of messages, on a thread of gRPC's: the membership's caller learns of it
      finish(error);
    }
  }

  void handle(const wire::ToNode& message) {
    using What = wire::ToNode::WhatCase;
    const std::lock_guard lock(mutex);
    last_message = now();
    if (message.what_case() == What::kWelcome && welcome.ticket() == 0) welcome = message.welcome();
    if (message.what_case() == What::kGeneration) on_generation(from_wire(message.generation()));
    if (message.what_case() == What::kMessage) messages.push_back(from_wire(message.message()));
    if (message.what_case() == What::kDismissal) dismissed = true;
    if (message.what_case() == What::kRenewal) renew(message.renewal());
    if (dismissed || newest_number() > taken) generation_over->cancel();
    changed.notify_all();
  }

  // With the lock held.
  void on_generation(Generation generation) {
    if (generation.rank_of(name) < 0)
      without_us = generation.number;
    else
      newest = std::move(generation);
  }
  std::uint64_t newest_number() const { return std::max(newest.number, without_us); }

  // For the next connections; this one stays. With the lock held.
  void renew(const wire::Renewal& renewal) {
    if (rpc::identity_of_certificate(renewal.certificate()).name != name)
      throw Error{unauthenticated, "node '{}' got a certificate that is not its own from the coordinator at {}", name, options.coordinator};
    credentials.certificate = renewal.certificate();
    wipe(credentials.key);
    credentials.key = renewal.private_key();
  }

  void on_clock_echo(const wire::ClockEcho& echo, Seconds time) {
    clock_offset.add({.sent = echo.sent(), .received = echo.received(), .answered = echo.answered(), .back = time.count()});
    if (++echoes < kFirstTrips) probe_clock();
  }

  void probe_clock() {
    wire::ToCoordinator message = blank();
    message.mutable_clock_probe()->set_sent(now().count());
    session->send(message.SerializeAsString());
  }

  void closed(const Error& why) { finish(end_for(why)); }

  Error end_for(const Error& why) const {
    if (why.code() == ok) return Error{cancelled, "node '{}' has left", name};
    if (why.code() != unavailable) return why;
    return Error{unavailable, "the coordinator at {} is gone: {}", options.coordinator, why.what()};
  }

  // Only the first end counts.
  void finish(const Error& why) {
    {
      const std::lock_guard lock(mutex);
      if (ended) return;
      ended = why;
      generation_over->cancel();
      changed.notify_all();
    }
    if (options.ended) options.ended(why);
  }

  void say(const wire::ToCoordinator& message) {
    check();
    session->send(message.SerializeAsString());
  }
  wire::ToCoordinator blank() const {
    wire::ToCoordinator out;
    out.set_generation(taken.load());
    return out;
  }

  void check() const {
    const std::lock_guard lock(mutex);
    if (ended) throw Error(*ended);
  }

  // Waits until `done`, the end, or the timeout; throws the end. With the lock held.
  template <class Done>
  bool wait(std::unique_lock<std::mutex>& lock, Seconds timeout, const Done& done) {
    changed.wait_for(lock, timeout, [&] { return ended || done(); });
    if (done()) return true;
    if (ended) throw Error(*ended);
    return false;
  }

  void await_end() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, kFarewell, [this] { return ended.has_value(); });
  }

  void beat(Seconds late) {
    wire::ToCoordinator message = blank();
    {
      const std::lock_guard lock(progress_mutex);
      progress.seconds = (now() - moved).count();
      progress.waits_for = peer_wait->peer();
      *message.mutable_heartbeat() = to_wire(progress);
    }
    session->send(message.SerializeAsString());
    probe_clock();
    const Seconds patience{kCoordinatorSilences * welcome.silence()};
    bool silent = false;
    {
      const std::lock_guard lock(mutex);
      if (late > patience / 2) last_message += late;  // this process stood still, not the coordinator
      silent = !ended && now() - last_message > patience;
    }
    if (silent)
      finish(Error{unavailable, "the coordinator at {} is gone: no word from it for {:g} s", options.coordinator, patience.count()});
  }

  std::string call(const std::string& method, std::string request, Seconds timeout) {
    check();
    const std::shared_ptr<rpc::Channel> through = open_channel();
    return through->call(method, stamped({.ticket = welcome.ticket(), .generation = taken.load()}, std::move(request)), timeout);
  }

  // A share: the membership may end and rejoin while a call is under way.
  std::shared_ptr<rpc::Channel> open_channel() const {
    const std::lock_guard lock(mutex);
    if (channel == nullptr) throw Error{unavailable, "the connection to the coordinator at {} is closed", options.coordinator};
    return channel;
  }
  void close_channel() {
    std::shared_ptr<rpc::Channel> last;  // ends outside of the lock
    const std::lock_guard lock(mutex);
    std::swap(last, channel);
  }

  void set(const std::string& key, const std::string& value) override {
    wire::StoreSet request;
    request.set_key(key);
    request.set_value(value);
    call("store_set", request.SerializeAsString(), kStoreCall);
  }

  std::string get(const std::string& key, Seconds timeout) override {
    wire::StoreGet request;
    request.set_key(key);
    request.set_timeout(timeout.count());
    return call("store_get", request.SerializeAsString(), timeout + kStoreCall);
  }

  const Options options;
  const std::string name;
  rpc::Credentials credentials;           // as they were renewed
  std::shared_ptr<rpc::Channel> channel;  // none: closed
  std::shared_ptr<rpc::Session> session;

  mutable std::mutex mutex;
  std::condition_variable changed;
  wire::Welcome welcome;         // doesn't change once it is here
  Generation newest;             // of those with this node
  std::uint64_t without_us = 0;  // number of the newest without it
  std::atomic<std::uint64_t> taken{0};
  std::shared_ptr<comm::Cancellation> generation_over = std::make_shared<comm::Cancellation>();
  std::deque<Message> messages;
  bool dismissed = false;
  std::optional<Error> ended;
  Seconds last_message = now();

  ClockOffset clock_offset;
  std::atomic<int> echoes{0};

  std::mutex progress_mutex;
  Progress progress;
  Seconds moved = now();  // the last time
  const std::shared_ptr<comm::PeerWait> peer_wait = std::make_shared<comm::PeerWait>();

  std::unique_ptr<Heartbeat> heartbeat;
};

Membership::Membership(std::shared_ptr<State> state) : state_(std::move(state)) {}
Membership::Membership(Membership&& other) noexcept : state_(std::move(other.state_)) {}
// Not a plain assignment: what was here before must say goodbye as the destructor does.
Membership& Membership::operator=(Membership&& other) noexcept {
  const std::scoped_lock lock(mutex_, other.mutex_);
  std::swap(state_, other.state_);
  return *this;
}

std::shared_ptr<Membership::State> Membership::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

Membership::~Membership() {
  if (state_ == nullptr) return;
  state_->heartbeat.reset();
  state_->session->close(Error{ok, "done"});
  state_->await_end();
  state_->close_channel();  // here, not where the last share of the state happens to end
}

Membership Membership::connect(Options options, Seconds timeout) {
  const Seconds end = options.clock->now() + timeout;
  rpc::Channel channel = rpc::Channel::connect(options.coordinator, options.credentials, timeout);
  auto state = std::make_shared<State>(std::move(options), std::move(channel));
  // The stream may outlive the membership by a moment, so it owns a share of the state.
  state->session = state->channel->open_session("membership", {.received = [state](const std::string& bytes) { state->received(bytes); },
                                                               .closed = [state](const Error& why) { state->closed(why); }});
  wire::ToCoordinator hello;
  *hello.mutable_hello() = to_wire(state->options.info, state->options.version);
  state->session->send(hello.SerializeAsString());

  Membership out(state);
  std::unique_lock lock(state->mutex);
  if (!state->wait(lock, std::max(end - state->now(), Seconds{1}), [&] { return state->welcome.ticket() != 0; }))
    throw Error{deadline_exceeded, "the coordinator at {} does not answer node '{}'", state->options.coordinator, state->name};
  lock.unlock();
  state->probe_clock();
  State* const raw = state.get();  // the thread ends before the state does
  state->heartbeat = std::make_unique<Heartbeat>(*state->options.clock, Seconds{state->welcome.silence() / kHeartbeatsPerSilence},
                                                 [raw](Seconds late) { raw->beat(late); });
  return out;
}

void Membership::rejoin(Seconds timeout) {
  const std::shared_ptr<State> former = state();
  former->heartbeat.reset();
  Options again = former->options;
  again.credentials = credentials();
  const Seconds end = former->now() + timeout;
  for (;;) {
    try {
      *this = connect(again, std::max(end - former->now(), Seconds{0.1}));
      return;
    } catch (const Error& error) {  // the coordinator may be on its way: a failure is final only when the time is over
      const bool may_pass = error.code() == unavailable || error.code() == already_exists || error.code() == deadline_exceeded;
      if (!may_pass || former->now() >= end) throw;
    }
    std::this_thread::sleep_for(kRejoinPause);
  }
}

std::string Membership::welcome() const { return state()->welcome.job(); }
std::string Membership::node() const { return state()->name; }

void Membership::ready(const JobFingerprint& fingerprint) {
  const std::shared_ptr<State> state = this->state();
  wire::ToCoordinator message = state->blank();
  *message.mutable_ready() = to_wire(fingerprint);
  state->say(message);
}

Generation Membership::await_generation(std::uint64_t newer_than, Seconds timeout) {
  const std::shared_ptr<State> state = this->state();
  std::unique_lock lock(state->mutex);
  const auto come = [&] { return state->dismissed || state->newest.number > std::max(newer_than, state->without_us); };
  if (!state->wait(lock, timeout, come))
    throw Error{deadline_exceeded, "the coordinator at {} has announced no generation after {} within {:g} s", state->options.coordinator,
                newer_than, timeout.count()};
  if (state->dismissed) throw Error{cancelled, "node '{}' was dismissed by the coordinator", state->name};
  state->taken = state->newest.number;
  state->generation_over = std::make_shared<comm::Cancellation>();
  return state->newest;
}

std::uint64_t Membership::announced() const {
  const std::shared_ptr<State> state = this->state();
  const std::lock_guard lock(state->mutex);
  return state->newest_number();
}

comm::Store& Membership::store() { return *state(); }

std::shared_ptr<const comm::Cancellation> Membership::cancellation() const {
  const std::shared_ptr<State> state = this->state();
  const std::lock_guard lock(state->mutex);
  return state->generation_over;
}

rpc::Credentials Membership::credentials() const {
  const std::shared_ptr<State> state = this->state();
  const std::lock_guard lock(state->mutex);
  return state->credentials;
}

std::optional<ClockOffset::Estimate> Membership::clock_offset() const { return state()->clock_offset.estimate(); }

void Membership::at(std::int64_t step, std::string_view phase) {
  const std::shared_ptr<State> state = this->state();
  const std::lock_guard lock(state->progress_mutex);
  state->progress.step = step;
  state->progress.phase = phase;
  ++state->progress.moves;
  state->moved = state->now();
}

std::shared_ptr<comm::PeerWait> Membership::peer_wait() const { return state()->peer_wait; }

void Membership::send(const Message& message) {
  const std::shared_ptr<State> state = this->state();
  wire::ToCoordinator out = state->blank();
  *out.mutable_message() = to_wire(message);
  state->say(out);
}

std::optional<Message> Membership::receive() { return receive(Seconds{0}); }

std::optional<Message> Membership::receive(Seconds timeout) {
  const std::shared_ptr<State> state = this->state();
  std::unique_lock lock(state->mutex);
  if (!state->wait(lock, timeout, [&] { return !state->messages.empty(); })) return std::nullopt;
  std::optional<Message> out(std::move(state->messages.front()));
  state->messages.pop_front();
  return out;
}

std::string Membership::call(const std::string& method, std::string request, Seconds timeout) {
  return state()->call(method, std::move(request), timeout);
}

void Membership::fail(const FailureReport& report) {
  const std::shared_ptr<State> state = this->state();
  wire::ToCoordinator message = state->blank();
  *message.mutable_failure() = to_wire(report);
  state->say(message);
}

void Membership::leave() {
  const std::shared_ptr<State> state = this->state();
  wire::ToCoordinator message = state->blank();
  message.mutable_leave();
  state->say(message);
  state->session->close(Error{ok, "left"});
  state->await_end();
}

std::optional<Error> Membership::end() const {
  const std::shared_ptr<State> state = this->state();
  const std::lock_guard lock(state->mutex);
  return state->ended;
}

bool Membership::dismissed() const {
  const std::shared_ptr<State> state = this->state();
  const std::lock_guard lock(state->mutex);
  return state->dismissed;
}

bool Membership::lost() const {
  const std::optional<Error> why = end();
  return why && why->code() == unavailable;
}

}  // namespace trireme::coord
