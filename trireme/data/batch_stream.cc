// SPDX-License-Identifier: Apache-2.0
// A ring of batches: threads take numbers in order and fill the slots, the consumer takes the slots in order.
#include "trireme/data/batch_stream.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "trireme/data/batch_maker.h"

namespace trireme::data {

struct BatchStream::State {
  State(std::shared_ptr<const Source> source, Transform transform, const StreamOptions& options, const Clock& time);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  struct Slot {
    Batch batch;
    std::exception_ptr error;
    bool ready = false;
  };
  // What is handed out stays untouched while the others are being filled.
  Slot& slot_of(std::int64_t number) { return slots[static_cast<std::size_t>(number) % slots.size()]; }

  const Batch* next();
  void release_last();
  void work(const std::stop_token& stop);
  void fill(std::int64_t number, std::span<std::byte> stored, const std::stop_token& stop);

  BatchMaker maker;
  const Clock& clock;
  std::vector<Slot> slots;
  std::vector<std::byte> own_sample;  // on its way, when next() makes the batches itself

  std::mutex mutex;
  std::condition_variable_any slot_is_free, batch_is_ready;
  std::int64_t begun, delivered, released;  // numbers of the next batch to begin, to hand out, to take back
  StreamTimes times;

  std::vector<std::jthread> threads;  // last, so that they end first
};

BatchStream::State::State(std::shared_ptr<const Source> source, Transform transform, const StreamOptions& options, const Clock& time)
    : maker(std::move(source), std::move(transform), options),
      clock(time),
      slots(options.threads > 0 ? static_cast<std::size_t>(options.prefetch) + 1 : 1),
      own_sample(options.threads > 0 ? 0 : maker.sample_bytes()),
      begun(maker.first()),
      delivered(begun),
      released(begun) {
  for (Slot& slot : slots) slot.batch = maker.empty_batch();
  for (std::int64_t i = 0; i < options.threads; ++i) threads.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

BatchStream::State::~State() {
  for (std::jthread& thread : threads) thread.request_stop();  // all at once; each would otherwise wait for the one before it
}

void BatchStream::State::work(const std::stop_token& stop) {
  std::vector<std::byte> stored(maker.sample_bytes());
  const auto may_begin = [this] { return begun >= maker.end() || begun - released < static_cast<std::int64_t>(slots.size()); };
  std::unique_lock lock(mutex);
  while (slot_is_free.wait(lock, stop, may_begin) && !stop.stop_requested() && begun < maker.end()) {
    const std::int64_t number = begun++;
    lock.unlock();
    const Seconds start = clock.now();
    fill(number, stored, stop);
    const Seconds spent = clock.now() - start;
    lock.lock();
    times.background_seconds += spent.count();
    slot_of(number).ready = true;
    if (number == delivered) batch_is_ready.notify_one();
  }
}

void BatchStream::State::fill(std::int64_t number, std::span<std::byte> stored, const std::stop_token& stop) {
  Slot& slot = slot_of(number);
  try {
    maker.make(number, slot.batch, stored, stop);
  } catch (...) {
    slot.error = std::current_exception();
  }
}

// The consumer is done with the batch before this one.
void BatchStream::State::release_last() {
  if (released == delivered) return;
  slot_of(released++).ready = false;
  slot_is_free.notify_one();
}

const Batch* BatchStream::State::next() {
  std::unique_lock lock(mutex);
  release_last();
  if (delivered >= maker.end()) return nullptr;
  const std::int64_t number = delivered;
  Slot& slot = slot_of(number);
  const Seconds start = clock.now();
  if (threads.empty()) {
    fill(number, own_sample, {});
  } else {
    batch_is_ready.wait(lock, [&] { return slot.ready; });
  }
  times.wait_seconds += (clock.now() - start).count();
  ++delivered;
  if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
  return &slot.batch;
}

BatchStream::BatchStream(std::shared_ptr<const Source> source, Transform transform, const StreamOptions& options, const Clock& clock)
    : state_(std::make_unique<State>(std::move(source), std::move(transform), options, clock)) {}

BatchStream::~BatchStream() = default;

const Batch* BatchStream::next() { return state_->next(); }

StreamTimes BatchStream::times() const {
  const std::lock_guard lock(state_->mutex);
  return state_->times;
}

}  // namespace trireme::data
