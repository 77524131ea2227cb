// SPDX-License-Identifier: Apache-2.0
// Orders for failpoints: parsed once, obeyed where the code passes by.
#include "trireme/base/failpoint.h"

#ifdef TRIREME_FAILPOINTS

#  include <fcntl.h>
#  include <unistd.h>

#  include <atomic>
#  include <cerrno>
#  include <charconv>
#  include <chrono>
#  include <csignal>
#  include <cstdint>
#  include <memory>
#  include <string>
#  include <thread>
#  include <vector>

#  include "trireme/base/error.h"
#  include "trireme/base/files.h"

namespace trireme {
namespace {

using Deed = void (*)(std::string_view place, double seconds);

struct Action {
  std::string_view name;
  Deed deed;
};

void kill_self(std::string_view, double) { ::kill(::getpid(), SIGKILL); }
void stop_self(std::string_view, double) { ::kill(::getpid(), SIGSTOP); }
void exit_at_once(std::string_view, double) { ::_exit(1); }
void fail(std::string_view place, double) { throw Error{aborted, "failpoint {}: ordered to fail", place}; }
void sleep_for(std::string_view, double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
void io_error(std::string_view place, double) { throw_system_error(EIO, fmt::format("pass failpoint {}", place)); }
void spoil(std::string_view, double) {}      // is_spoiled returns it
void keep_pace(std::string_view, double) {}  // failpoint() does it, at every visit
void disk_full(std::string_view place, double) { throw_system_error(ENOSPC, fmt::format("pass failpoint {}", place)); }

// Until the system ends this process; not more than a machine of any size has for others.
void hoard(std::string_view place, double) {
  constexpr std::size_t kBlock = 16 << 20;
  constexpr std::size_t kBlocks = 256;
  std::vector<std::vector<char>> blocks;
  while (blocks.size() < kBlocks) blocks.emplace_back(kBlock, 'x');
  throw Error{failed_precondition, "failpoint {}: there is no limit of memory below {} bytes", place, kBlocks * kBlock};
}

constexpr Action kActions[] = {{"kill", kill_self}, {"stop", stop_self},   {"exit", exit_at_once}, {"throw", fail}, {"sleep", sleep_for},
                               {"eio", io_error},   {"enospc", disk_full}, {"hoard", hoard},       {"nan", spoil},  {"pace", keep_pace}};
constexpr std::string_view kOnce = "once=";

struct Order {
  std::string place;
  std::int64_t visit = 0;  // the one at which it is obeyed
  Deed deed = nullptr;
  double seconds = 0;
  std::string mark;  // a file; made by the one process that obeys; empty: every process does
  std::atomic<std::int64_t> visits{0};
  std::chrono::steady_clock::time_point next{};  // of a pace: no visit ends before
};

// Global, unlike everything else: a failpoint must be one word anywhere in the code, or none would be placed; and what it does
// (dying, stopping) concerns the whole process.
std::vector<std::unique_ptr<Order>>& armed() {
  static std::vector<std::unique_ptr<Order>> orders;
  return orders;
}

std::vector<std::string_view> words_of(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

template <class Number>
bool is_number(std::string_view text, Number& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc{} && end == text.data() + text.size() && number >= 0;
}

void set_action(Order& order, std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  for (const Action& action : kActions)
    if (action.name == name) order.deed = action.deed;
  const bool has_time = word.size() > name.size();
  const bool wants_time = order.deed == sleep_for || order.deed == keep_pace;
  if (order.deed == nullptr || has_time != wants_time || (wants_time && !is_number(word.substr(name.size() + 1), order.seconds)))
    throw Error{invalid_argument,
                "failpoint action '{}' is none of kill, stop, exit, throw, sleep=SECONDS, pace=SECONDS, eio, enospc, hoard, nan", word};
}

// Null if it is for another node.
std::unique_ptr<Order> order_of(std::string_view text, std::string_view node) {
  const std::vector<std::string_view> parts = words_of(text, ':');
  auto order = std::make_unique<Order>();
  if (parts.size() != 3 || !is_number(parts[1], order->visit) || order->visit == 0)
    throw Error{invalid_argument, "failpoint '{}': write NAME[@NODE]:NTH:ACTION, e.g. step.after_apply@1:3:kill", text};
  set_action(*order, parts[2]);
  const std::size_t at = parts[0].find('@');
  order->place = parts[0].substr(0, at);
  if (at != std::string_view::npos && parts[0].substr(at + 1) != node) return nullptr;
  return order;
}

// Whether it is this process that obeys.
bool takes_mark(const std::string& mark) {
  if (mark.empty()) return true;
  const int fd = ::open(mark.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

// Visits are at least so far apart: what would be quicker waits, what is slower anyway does not. For places of one thread.
void wait_for_pace(Order& order) {
  std::this_thread::sleep_until(order.next);
  order.next =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(order.seconds));
}

}  // namespace

void failpoint(std::string_view name) {
  for (const auto& order : armed()) {
    if (order->place == name && order->deed == keep_pace) wait_for_pace(*order);
    if (order->place != name || order->deed == keep_pace || ++order->visits != order->visit || !takes_mark(order->mark)) continue;
    order->deed(name, order->seconds);
  }
}

bool is_spoiled(std::string_view name) {
  bool is_ordered = false;
  for (const auto& order : armed())
    if (order->place == name && order->deed == spoil && ++order->visits == order->visit && takes_mark(order->mark)) is_ordered = true;
  return is_ordered;
}

void arm_failpoints(std::string_view orders, std::string_view node) {
  armed().clear();
  std::string_view folder;
  for (const std::string_view word : words_of(orders, ' '))
    if (word.starts_with(kOnce)) folder = word.substr(kOnce.size());
  int number = 0;
  for (const std::string_view word : words_of(orders, ' ')) {
    if (word.starts_with(kOnce)) continue;
    auto order = order_of(word, node);
    if (order && !folder.empty()) order->mark = fmt::format("{}/{}", folder, number);
    if (order) armed().push_back(std::move(order));
    ++number;
  }
}

}  // namespace trireme

#endif
