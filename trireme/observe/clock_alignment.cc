// SPDX-License-Identifier: Apache-2.0
// An interval of shifts that are possible, node by node.
#include "trireme/observe/clock_alignment.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace trireme::observe {
namespace {

// What shows a trace draws no arrow that ends when it begins, or sorts its ends by their place in the file (Perfetto).
constexpr double kShortestWay = 1e-9;

}  // namespace

void ClockAlignment::sent(const std::string& message, int node, double begin) {
  Message& of = messages_[message];
  of.from = node;
  of.begin = begin;
}

void ClockAlignment::received(const std::string& message, int node, double end) {
  Message& of = messages_[message];
  of.to = node;
  of.end = end;
}

bool ClockAlignment::is_complete(const std::string& message) const {
  const auto found = messages_.find(message);
  return found != messages_.end() && found->second.from >= 0 && found->second.to >= 0;
}

std::map<int, double> ClockAlignment::shifts() const {
  // By how much the fastest message from one to the other seems to be later than it has to be.
  std::map<std::pair<int, int>, double> least;
  std::set<int> nodes;
  for (const auto& [id, message] : messages_) {
    if (message.from < 0 || message.to < 0) continue;
    nodes.insert({message.from, message.to});
    const double spare = message.end - message.begin - kShortestWay;
    const auto [found, is_new] = least.try_emplace({message.from, message.to}, spare);
    found->second = std::min(found->second, spare);
  }
  std::map<int, double> shifts;
  for (const int node : nodes) {
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    for (const auto& [other, shift] : shifts) {
      if (const auto way = least.find({other, node}); way != least.end()) low = std::max(low, shift - way->second);
      if (const auto way = least.find({node, other}); way != least.end()) high = std::min(high, shift + way->second);
    }
    shifts[node] = low > high ? (low + high) / 2 : std::clamp(0.0, low, high);
  }
  return shifts;
}

}  // namespace trireme::observe
