// SPDX-License-Identifier: Apache-2.0
// Parts go in segments, so that one is on its way while another is summed.
#include "trireme/comm/direct.h"

#include <algorithm>
#include <array>

#include "trireme/comm/wire_formats.h"

namespace trireme::comm {
namespace {

// What a member sends to each other one at once, and to all of them; more is divided into parts.
constexpr std::size_t kOneStepBytes = 16 << 10;
constexpr std::size_t kOneStepBytesToAll = 64 << 10;
// Measured: less wakes the peers too often, more falls out of the cache between arriving and being summed (two segments of each peer are
// kept, one being summed while the next arrives).
constexpr std::size_t kSegmentBytes = 256 << 10;
constexpr std::size_t kSegmentBytesOfAll = 2 << 20;
constexpr std::size_t kCacheLine = 64;

constexpr std::size_t kSumsOnTheWay = 3;  // segments

// The upper bit keeps clear of Gloo's tags.
constexpr std::uint64_t kTag = 1ULL << 63U;

template <class T>
T* memory(std::vector<std::byte>& buffer, std::size_t count) {
  if (buffer.size() < count * sizeof(T)) buffer.resize(count * sizeof(T));
  return reinterpret_cast<T*>(buffer.data());
}

// Where the sum stands and what this member has been sent.
template <class Format>
class Summation {
 public:
  using Value = typename Format::Value;
  using Element = typename Format::Element;

  Summation(Links& links, std::span<Value> values, std::uint64_t tag)
      : links_(links),
        values_(values),
        tag_(tag),
        ranks_(static_cast<std::size_t>(links.size())),
        part_((values.size() + ranks_ - 1) / ranks_ + kCacheLine / sizeof(Element) - 1) {
    part_ -= part_ % (kCacheLine / sizeof(Element));
  }

  void in_one_step(std::vector<std::byte>& received) {
    const std::size_t count = values_.size();
    auto* all = memory<Element>(received, count * ranks_);
    Element* mine = all + count * own();
    Format::encode(mine, values_.data(), count);
    for_each_peer([&](std::size_t peer) { send(peer, mine, count); });
    for_each_peer([&](std::size_t peer) { receive(peer, all + count * peer, count, received_[0]); });
    links_.wait(received_[0], ranks_ - 1);
    Format::decode(values_.data(), all, count);
    for (std::size_t rank = 1; rank < ranks_; ++rank) Format::add(values_.data(), all + count * rank, count);
    links_.wait(sent_, to_send_);
  }

  void in_two_steps(std::vector<std::byte>& wire_values, std::vector<std::byte>& received) {
    wire_ = memory_on_the_wire(wire_values);
    const std::size_t segment_bytes = std::clamp(kSegmentBytesOfAll / (2 * ranks_), kSegmentBytes / 8, kSegmentBytes);
    segment_ = std::min(part_, segment_bytes / sizeof(Element));
    contributions_ = memory<Element>(received, 2 * ranks_ * segment_);
    const std::size_t segments = (part_ + segment_ - 1) / segment_;
    // Two rounds after a sum was sent, peers have sent contributions behind it that were waited for: no member waits for it.
    for (std::size_t s = 0; s < segments + 3; ++s) {
      if (s < segments) exchange_contributions(s);
      if (s >= 1 && s <= segments) sum_and_exchange(s - 1);
      if (s >= 3) take_sums(s - 3);
    }
    links_.wait(sent_, to_send_);
  }

 private:
  struct Range {
    std::size_t begin;
    std::size_t count;
  };

  std::size_t own() const { return static_cast<std::size_t>(links_.rank()); }

  // Begins behind this member, so that not all write to the same one first.
  template <class Visit>
  void for_each_peer(Visit visit) const {
    for (std::size_t i = 1; i < ranks_; ++i) visit((own() + i) % ranks_);
  }

  // May be empty: the values need not divide evenly.
  Range segment(std::size_t rank, std::size_t number) const {
    const std::size_t end = std::min({values_.size(), (rank + 1) * part_, rank * part_ + (number + 1) * segment_});
    const std::size_t begin = std::min(end, rank * part_ + number * segment_);
    return {begin, end - begin};
  }

  Element* memory_on_the_wire(std::vector<std::byte>& wire_values) {
    if constexpr (Format::kEncodes)
      return memory<Element>(wire_values, values_.size());
    else
      return values_.data();
  }

  void encode(const Range& range) {
    if constexpr (Format::kEncodes) Format::encode(wire_ + range.begin, values_.data() + range.begin, range.count);
  }

  void decode(const Range& range) {
    if constexpr (Format::kEncodes) Format::decode(values_.data() + range.begin, wire_ + range.begin, range.count);
  }

  Element* contribution(std::size_t peer, std::size_t number) const { return contributions_ + ((number % 2) * ranks_ + peer) * segment_; }

  void exchange_contributions(std::size_t number) {
    const Range mine = segment(own(), number);
    received_[number % 2] = 0;
    for_each_peer([&](std::size_t peer) {
      const Range theirs = segment(peer, number);
      encode(theirs);
      send(peer, wire_ + theirs.begin, theirs.count);
      receive(peer, contribution(peer, number), mine.count, received_[number % 2]);
    });
  }

  void sum_and_exchange(std::size_t number) {
    const Range mine = segment(own(), number);
    if (mine.count > 0) {
      links_.wait(received_[number % 2], ranks_ - 1);
      for (std::size_t rank = 0; rank < ranks_; ++rank)
        if (rank != own()) Format::add(values_.data() + mine.begin, contribution(rank, number), mine.count);
      encode(mine);
      decode(mine);  // all must have the rounded value
    }
    sums_received_[number % kSumsOnTheWay] = 0;
    for_each_peer([&](std::size_t peer) {
      const Range theirs = segment(peer, number);
      send(peer, wire_ + mine.begin, mine.count);
      receive(peer, wire_ + theirs.begin, theirs.count, sums_received_[number % kSumsOnTheWay]);
    });
  }

  void take_sums(std::size_t number) {
    Completions expected = 0;
    for_each_peer([&](std::size_t peer) { expected += segment(peer, number).count > 0 ? 1 : 0; });
    links_.wait(sums_received_[number % kSumsOnTheWay], expected);
    for_each_peer([&](std::size_t peer) { decode(segment(peer, number)); });
  }

  void send(std::size_t peer, const Element* from, std::size_t count) {
    if (count == 0) return;
    ++to_send_;
    links_.send(static_cast<int>(peer), {tag_, count * sizeof(Element)}, from, sent_);
  }

  void receive(std::size_t peer, Element* to, std::size_t count, Completions& completions) {
    if (count > 0) links_.receive(static_cast<int>(peer), {tag_, count * sizeof(Element)}, to, completions);
  }

  Links& links_;
  std::span<Value> values_;
  std::uint64_t tag_;
  std::size_t ranks_;
  std::size_t part_;
  std::size_t segment_ = 0;
  Element* wire_ = nullptr;
  Element* contributions_ = nullptr;
  Completions sent_ = 0;
  Completions to_send_ = 0;
  std::array<Completions, 2> received_{};
  std::array<Completions, kSumsOnTheWay> sums_received_{};
};

template <class Format>
void sum(Links& links, std::span<typename Format::Value> values, std::uint64_t tag, std::vector<std::byte>& wire_values,
         std::vector<std::byte>& received) {
  Summation<Format> summation(links, values, tag);
  const std::size_t bytes = values.size() * sizeof(typename Format::Element);
  if (bytes <= std::min(kOneStepBytes, kOneStepBytesToAll / static_cast<std::size_t>(links.size() - 1)))
    summation.in_one_step(received);
  else
    summation.in_two_steps(wire_values, received);
}

}  // namespace

void DirectReduction::run(std::span<float> values, WireType wire) {
  const std::uint64_t tag = kTag | calls_++;
  switch (wire) {
    case WireType::f32:
      return sum<F32Format>(links_, values, tag, wire_values_, received_);
    case WireType::bf16:
      return sum<Bf16Format>(links_, values, tag, wire_values_, received_);
    case WireType::f16:
      return sum<F16Format>(links_, values, tag, wire_values_, received_);
  }
}

void DirectReduction::run(std::span<double> values) { sum<F64Format>(links_, values, kTag | calls_++, wire_values_, received_); }

}  // namespace trireme::comm
