// SPDX-License-Identifier: Apache-2.0
// Counts connections without proof by host, and decides which of them are admitted.
#include "trireme/rpc/arrivals.h"

#include <fmt/format.h>

#include <algorithm>

#include "trireme/base/host.h"

namespace trireme::rpc {
namespace {

constexpr std::size_t kMaxHosts = 4096;  // remembered

void replace(std::string& text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

// As join_host_port() writes it.
std::string from_grpc(const std::string& peer) {
  std::string name = peer.substr(peer.find(':') + 1);
  replace(name, "%5B", "[");
  replace(name, "%5D", "]");
  return name;
}

}  // namespace

bool Arrivals::admit(const std::string& host, const std::string& port) {
  const std::lock_guard lock(mutex_);
  const std::string peer = join_host_port(host, port);
  if (!take_allowance(host)) {
    lines_.add(fmt::format("{} connects too often to the coordinator's port; connections are closed", peer));
    return false;
  }
  unproven_.insert(peer);
  arrivals_.push_back({peer, clock_.now()});
  return true;
}

void Arrivals::proven(const std::string& peer) {
  const std::lock_guard lock(mutex_);
  if (!unproven_.empty()) unproven_.erase(from_grpc(peer));
}

void Arrivals::look() {
  const std::lock_guard lock(mutex_);
  while (!arrivals_.empty() && clock_.now() - arrivals_.front().time > limits_.patience) {
    const std::string& peer = arrivals_.front().peer;
    if (unproven_.erase(peer) > 0)
      lines_.add(fmt::format("{} connected to the coordinator's port and did not show a certificate of this job", peer));
    arrivals_.pop_front();
  }
  lines_.look();
}

bool Arrivals::take_allowance(const std::string& host) {
  const Seconds now = clock_.now();
  if (hosts_.size() > kMaxHosts) forget_idle_hosts();
  auto& [left, filled] = hosts_.try_emplace(host, Allowance{limits_.at_once, now}).first->second;
  left = std::min(limits_.at_once, left + (now - filled).count() * limits_.each_second);
  filled = now;
  if (left < 1) return false;
  left -= 1;
  return true;
}

void Arrivals::forget_idle_hosts() {
  const Seconds full{limits_.at_once / limits_.each_second};
  std::erase_if(hosts_, [&](const auto& row) { return clock_.now() - row.second.filled > full; });
}

}  // namespace trireme::rpc
