// SPDX-License-Identifier: Apache-2.0
// What happened when on which thread of this process, as spans, for the steps that are profiled.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::observe {

// Times are those of SteadyClock, in seconds. Spans of one track don't overlap, or lie within each other.
struct Span {
  std::string_view name;
  std::string_view category;
  std::string_view track;  // a thread, or something that does one thing at a time, e.g. "to rank 1"
  double begin = 0;
  double end = 0;
  std::uint64_t sends = 0;  // what begins in this span arrives in the one that has the same number in `receives`; 0: nothing
  std::uint64_t receives = 0;
  std::int64_t step = 0;  // 0: of none in particular
  std::int64_t bytes = -1;
  bool is_op = false;  // of which there are many
};

// The same at both ends of a message: number `sequence` from one to the other.
std::uint64_t flow_of(std::string_view kind, std::uint64_t generation, std::uint64_t from, std::uint64_t to, std::uint64_t sequence);

// Keeps spans of the steps that are profiled; asking whether one is costs a load. All calls may come from any thread.
class Spans {
 public:
  static constexpr std::size_t kMost = 120'000;
  explicit Spans(std::size_t most = kMost) : most_(most) {}

  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  void turn_on(bool whether) { is_on_.store(whether, std::memory_order_relaxed); }

  // Whether or not it is on: a server follows what a worker that is profiled has sent. Beyond the most there may be, it is only counted;
  // ops get three quarters of the room, so that the rest is there however many they are.
  void add(const Span& span);

  struct Taken {
    std::vector<Span> spans;  // in the order in which they were added
    std::int64_t dropped = 0;
    std::vector<std::string> names;  // what the spans' texts point into
  };
  Taken take();
  bool is_empty() const;

 private:
  struct Kept {
    std::uint32_t name = 0, category = 0, track = 0;
    double begin = 0, end = 0;
    std::uint64_t sends = 0, receives = 0;
    std::int64_t step = 0, bytes = -1;
  };
  std::uint32_t number_of(std::string_view text);

  const std::size_t most_;
  std::atomic<bool> is_on_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::vector<Kept> kept_;
  std::size_t ops_ = 0;
  std::int64_t dropped_ = 0;
};

// Records a span from its making to its end, if `spans` is there and on at both.
class SpanScope {
 public:
  SpanScope(Spans* spans, std::string_view name, std::string_view category, std::string_view track);
  ~SpanScope();
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

 private:
  Spans* spans_;
  Span span_;
};

}  // namespace trireme::observe
