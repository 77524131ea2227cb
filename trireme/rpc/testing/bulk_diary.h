// SPDX-License-Identifier: Apache-2.0
// For tests: what a listener of a bulk stream received, and bodies that are counted.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/rpc/bulk.h"

namespace trireme::rpc {

inline std::string text_of(const Incoming& message) {
  std::string out(message.size(), '\0');
  message.copy(0, std::as_writable_bytes(std::span(out)));
  return out;
}

// What a listener received, to be waited for.
class Diary {
 public:
  BulkListener listener() {
    return {.received = [this](const Incoming& message) { write(text_of(message)); },
            .closed = [this](const Error& why) { write(fmt::format("closed: {}: {}", name_of(why.code()), why.what())); }};
  }
  std::string next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, Seconds{20}, [this] { return read_ < lines_.size(); })) return "nothing";
    return lines_[read_++];
  }
  // After the last that was read, and what comes within a moment.
  std::vector<std::string> rest() {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::lock_guard lock(mutex_);
    return {lines_.begin() + static_cast<std::ptrdiff_t>(read_), lines_.end()};
  }
  void write(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::size_t read_ = 0;
};

inline Outgoing text(std::string head, std::int64_t urgency = 0) {
  return {.head = std::move(head), .body = {}, .keeper = {}, .urgency = urgency};
}

// A body that counts how many like it there are.
class Bodies {
 public:
  Outgoing make(std::size_t bytes, char fill) {
    ++left_;
    auto memory = std::shared_ptr<std::string>(new std::string(bytes, fill), [this](std::string* text) {
      delete text;
      --left_;
    });
    return {.head = "head", .body = std::as_bytes(std::span(*memory)), .keeper = memory};
  }
  int left() const { return left_; }

 private:
  std::atomic<int> left_ = 0;
};

}  // namespace trireme::rpc
