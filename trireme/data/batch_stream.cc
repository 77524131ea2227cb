// SPDX-License-Identifier: Apache-2.0
// A ring of batches: threads take places in order and fill the slots, the consumer takes the slots in order.
#include "trireme/data/batch_stream.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "trireme/data/batch_maker.h"
#include "trireme/data/places.h"

namespace trireme::data {

struct BatchStream::State {
  State(const std::shared_ptr<const Source>& source, Transform transform, const StreamOptions& options, const Clock& time);
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

  struct Task {
    std::int64_t number = 0;
    Place place;
  };

  const Batch* next();
  void release_last();
  void work(const std::stop_token& stop);
  std::optional<Task> take_task(const std::stop_token& stop);
  std::optional<Place> ask(std::exception_ptr& fault) const;
  void end_at(std::int64_t number, const std::exception_ptr& fault);
  double fill(const Task& task, std::span<std::byte> stored, const std::stop_token& stop);
  void count(double reading, Seconds spent);

  BatchMaker maker;
  std::function<std::optional<Place>()> places;
  const Clock& clock;
  std::vector<Slot> slots;
  std::vector<std::byte> own_sample;  // on its way, when next() makes the batches itself

  std::mutex turn;  // of a thread that asks for a place, which may take long; taken before `mutex`
  std::mutex mutex;
  std::condition_variable_any slot_is_free, batch_is_ready;
  std::int64_t begun = 0, delivered = 0, released = 0;          // numbers of the next batch to begin, to hand out, to take back
  std::int64_t end = std::numeric_limits<std::int64_t>::max();  // one after the last, as soon as that is known
  StreamTimes times;

  std::vector<std::jthread> threads;  // last, so that they end first
};

BatchStream::State::State(const std::shared_ptr<const Source>& source, Transform transform, const StreamOptions& options, const Clock& time)
    : maker(source, std::move(transform), options),
      places(options.places ? options.places : [next = EpochPlaces(options, source->size())]() mutable { return next.next(); }),
      clock(time),
      slots(options.threads > 0 ? static_cast<std::size_t>(options.prefetch) + 1 : 1),
      own_sample(options.threads > 0 ? 0 : maker.sample_bytes()) {
  for (Slot& slot : slots) slot.batch = maker.empty_batch();
  for (std::int64_t i = 0; i < options.threads; ++i) threads.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

BatchStream::State::~State() {
  for (std::jthread& thread : threads) thread.request_stop();  // all at once; each would otherwise wait for the one before it
}

void BatchStream::State::work(const std::stop_token& stop) {
  std::vector<std::byte> stored(maker.sample_bytes());
  while (const std::optional<Task> task = take_task(stop)) {
    const Seconds start = clock.now();
    const double reading = fill(*task, stored, stop);
    const Seconds spent = clock.now() - start;
    const std::lock_guard lock(mutex);
    times.background_seconds += spent.count();
    count(reading, spent);
    slot_of(task->number).ready = true;
    if (task->number == delivered) batch_is_ready.notify_one();
  }
}

std::optional<BatchStream::State::Task> BatchStream::State::take_task(const std::stop_token& stop) {
  const std::lock_guard my_turn(turn);
  std::unique_lock lock(mutex);
  const auto may_begin = [this] { return begun >= end || begun - released < static_cast<std::int64_t>(slots.size()); };
  if (!slot_is_free.wait(lock, stop, may_begin) || stop.stop_requested() || begun >= end) return std::nullopt;
  const std::int64_t number = begun++;
  lock.unlock();
  std::exception_ptr fault;
  const std::optional<Place> place = ask(fault);
  lock.lock();
  if (place) return Task{number, *place};
  end_at(number, fault);
  return std::nullopt;
}

std::optional<Place> BatchStream::State::ask(std::exception_ptr& fault) const {
  try {
    return places();
  } catch (...) {
    fault = std::current_exception();
    return std::nullopt;
  }
}

// A fault takes the place of the last batch. With the mutex.
void BatchStream::State::end_at(std::int64_t number, const std::exception_ptr& fault) {
  end = fault ? number + 1 : number;
  slot_of(number).error = fault;
  slot_of(number).ready = true;
  batch_is_ready.notify_one();
}

double BatchStream::State::fill(const Task& task, std::span<std::byte> stored, const std::stop_token& stop) {
  Slot& slot = slot_of(task.number);
  try {
    return maker.make(task.place, slot.batch, stored, stop, clock);
  } catch (...) {
    slot.error = std::current_exception();
    return 0;
  }
}

void BatchStream::State::count(double reading, Seconds spent) {
  reading = std::min(reading, spent.count());
  times.read_seconds += reading;
  times.decode_seconds += spent.count() - reading;
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
  if (delivered >= end) return nullptr;
  Slot& slot = slot_of(delivered);
  const Seconds start = clock.now();
  if (threads.empty()) {
    std::exception_ptr fault;
    const std::optional<Place> place = ask(fault);
    if (place) {
      const double reading = fill({delivered, *place}, own_sample, {});
      count(reading, clock.now() - start);
    } else {
      end_at(delivered, fault);
    }
  } else {
    batch_is_ready.wait(lock, [&] { return slot.ready; });
  }
  times.wait_seconds += (clock.now() - start).count();
  if (delivered >= end) return nullptr;
  ++delivered;
  if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
  return &slot.batch;
}

BatchStream::BatchStream(const std::shared_ptr<const Source>& source, Transform transform, const StreamOptions& options, const Clock& clock)
    : state_(std::make_unique<State>(source, std::move(transform), options, clock)) {}

BatchStream::~BatchStream() = default;

const Batch* BatchStream::next() { return state_->next(); }

StreamTimes BatchStream::times() const {
  const std::lock_guard lock(state_->mutex);
  return state_->times;
}

}  // namespace trireme::data
