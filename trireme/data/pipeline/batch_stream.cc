// SPDX-License-Identifier: Apache-2.0
// A ring of batches: threads take places in order and fill the slots, the consumer takes the slots in order.
#include "trireme/data/pipeline/batch_stream.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/base/rollback.h"
#include "trireme/data/pipeline/batch_maker.h"
#include "trireme/data/pipeline/places.h"

namespace trireme::data {

namespace {

constexpr Seconds kLook{0.2};      // at whether to give up
constexpr Seconds kLastSample{2};  // for a thread to come back from the sample it is at

}  // namespace

struct BatchStream::State {
  State(const std::shared_ptr<const Source>& source, Transform transform, const StreamOptions& options, const Clock& time);
  ~State() = default;
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

  static void start_threads(const std::shared_ptr<State>& self, std::int64_t count);
  void end_threads();
  const Batch* next();
  void release_last();
  void await_batch(std::unique_lock<std::mutex>& lock, const Slot& slot);
  bool is_being_read(std::int64_t number) const { return number < begun && !(is_asking && number == begun - 1); }
  void run(const std::stop_token& stop);
  void work(const std::stop_token& stop);
  std::optional<Task> take_task(const std::stop_token& stop);
  std::optional<Place> ask(std::exception_ptr& fault) const;
  void end_at(std::int64_t number, const std::exception_ptr& fault);
  double fill(const Task& task, std::span<std::byte> stored, const std::stop_token& stop);
  void count(double reading, Seconds spent);

  BatchMaker maker;
  std::function<std::optional<Place>()> places;
  std::function<bool()> gives_up;
  std::function<void(bool)> waits_on;
  const Clock& clock;
  std::vector<Slot> slots;
  std::vector<std::byte> own_sample;  // on its way, when next() makes the batches itself

  std::mutex turn;  // of a thread that asks for a place, which may take long; taken before `mutex`
  std::mutex mutex;
  std::condition_variable_any slot_is_free, batch_is_ready, thread_is_over;
  std::int64_t begun = 0, delivered = 0, released = 0;          // numbers of the next batch to begin, to hand out, to take back
  std::int64_t end = std::numeric_limits<std::int64_t>::max();  // one after the last, as soon as that is known
  bool is_asking = false;                                       // for the place of the batch begun last
  StreamTimes times;

  std::size_t running = 0;            // threads
  std::vector<std::jthread> threads;  // each owns a share of this
};

BatchStream::State::State(const std::shared_ptr<const Source>& source, Transform transform, const StreamOptions& options, const Clock& time)
    : maker(source, std::move(transform), options),
      places(options.places ? options.places : [next = EpochPlaces(options, source->size())]() mutable { return next.next(); }),
      gives_up(options.gives_up),
      waits_on(options.waits_on),
      clock(time),
      slots(options.threads > 0 ? static_cast<std::size_t>(options.prefetch) + 1 : 1),
      own_sample(options.threads > 0 ? 0 : maker.sample_bytes()) {
  for (Slot& slot : slots) slot.batch = maker.empty_batch();
}

void BatchStream::State::start_threads(const std::shared_ptr<State>& self, std::int64_t count) {
  const std::lock_guard lock(self->mutex);  // none is over before it is counted
  for (; count > 0; --count, ++self->running) self->threads.emplace_back([self](const std::stop_token& stop) { self->run(stop); });
}

// All at once; each would otherwise wait for the one before it.
void BatchStream::State::end_threads() {
  for (std::jthread& thread : threads) thread.request_stop();
  std::unique_lock lock(mutex);
  const bool all_are = thread_is_over.wait_for(lock, kLastSample, [this] { return running == 0; });
  lock.unlock();
  for (std::jthread& thread : threads) all_are ? thread.join() : thread.detach();
  threads.clear();
}

void BatchStream::State::run(const std::stop_token& stop) {
  work(stop);
  const std::lock_guard lock(mutex);
  --running;
  thread_is_over.notify_all();
}

void BatchStream::State::work(const std::stop_token& stop) {
  std::vector<std::byte> stored(maker.sample_bytes());
  while (const std::optional<Task> task = take_task(stop)) {
    const Seconds start = clock.now();
    const double reading = fill(*task, stored, stop);
    if (stop.stop_requested()) return;  // it may have been left behind, and the clock is not its own
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
  is_asking = true;
  lock.unlock();
  std::exception_ptr fault;
  const std::optional<Place> place = ask(fault);
  lock.lock();
  is_asking = false;
  if (stop.stop_requested()) return std::nullopt;
  if (number == delivered) batch_is_ready.notify_one();  // it is being read from now on
  if (place) return Task{number, *place};
  end_at(number, fault);
  return std::nullopt;
}

std::optional<Place> BatchStream::State::ask(std::exception_ptr& fault) const {
  try {
    return places();
  } catch (...) {  // on a background thread: thrown to the caller that asks for the batch
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
  } catch (...) {  // as above
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

// Its owner is the caller of next(): it decides, by `gives_up`, how long this may take, since only it knows what a slow disk is.
void BatchStream::State::await_batch(std::unique_lock<std::mutex>& lock, const Slot& slot) {
  std::optional<bool> told;
  while (!slot.ready) {
    const bool reads = is_being_read(delivered);
    if (waits_on && told != reads) waits_on(reads);
    told = reads;
    if (gives_up && gives_up()) throw Error{cancelled, "reading a batch was given up"};
    batch_is_ready.wait_for(lock, kLook, [&] { return slot.ready || is_being_read(delivered) != reads; });
  }
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
    await_batch(lock, slot);
  }
  times.wait_seconds += (clock.now() - start).count();
  if (delivered >= end) return nullptr;
  ++delivered;
  if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
  return &slot.batch;
}

BatchStream::BatchStream(const std::shared_ptr<const Source>& source, Transform transform, const StreamOptions& options, const Clock& clock)
    : state_(std::make_shared<State>(source, std::move(transform), options, clock)) {
  Rollback threads([&] { state_->end_threads(); });
  State::start_threads(state_, options.threads);
  threads.keep();
}

BatchStream::~BatchStream() { state_->end_threads(); }

const Batch* BatchStream::next() { return state_->next(); }

StreamTimes BatchStream::times() const {
  const std::lock_guard lock(state_->mutex);
  return state_->times;
}

}  // namespace trireme::data
