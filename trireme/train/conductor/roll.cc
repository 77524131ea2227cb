// SPDX-License-Identifier: Apache-2.0
// Comings, goings and pauses.
#include "trireme/train/conductor/roll.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trireme::train {
namespace {

constexpr double kFirstPause = 1;  // seconds
constexpr double kLongestPause = 60;

}  // namespace

Roll::Roll(RollOptions options, const Clock& clock) : options_(std::move(options)), clock_(clock) {
  for (const std::string& node : options_.nodes) nodes_[node];
}

Roll::Node& Roll::at(const std::string& node) {
  if (std::ranges::find(options_.nodes, node) == options_.nodes.end()) options_.nodes.push_back(node);
  return nodes_[node];
}

const Roll::Node* Roll::find(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

void Roll::add(const std::string& node) {
  at(node);
  options_.startable.insert(node);
}

void Roll::launched(const std::string& node) { at(node).has_process = at(node).is_expected = true; }

void Roll::came(const std::string& node, const coord::NodeInfo& info) {
  Node& entry = at(node);
  entry.info = info;
  entry.has_come = entry.is_here = true;
  entry.is_ready = entry.is_expected = entry.is_stalled = false;
}

void Roll::ready(const std::string& node) { at(node).is_ready = true; }

void Roll::fail(Node& node) const {
  ++node.failures;
  const double pause = std::min(kLongestPause, kFirstPause * std::exp2(node.failures - 1));
  node.not_before = clock_.now() + Seconds(pause);
}

bool Roll::went(const std::string& node) {
  Node& entry = at(node);
  const bool is_news = std::exchange(entry.is_here, false);
  entry.is_ready = entry.is_stalled = false;
  if (is_news) {
    fail(entry);
    ++entry.deaths;
  }
  return is_news;
}

void Roll::process_ended(const std::string& node) {
  Node& entry = at(node);
  entry.has_process = false;
  // One that had come is missed by the coordinator, too.
  if (std::exchange(entry.is_expected, false)) fail(entry);
}

void Roll::leave_out(const std::string& node) { at(node).is_out = true; }
void Roll::exclude(const std::string& node) { fail(at(node)); }
void Roll::stall(const std::string& node) { at(node).is_stalled = true; }
void Roll::moved(const std::string& node) { at(node).is_stalled = false; }
void Roll::progressed(const std::string& node) { at(node).failures = at(node).deaths = 0; }

bool Roll::is_ready(const std::string& node) const {
  const Node* const entry = find(node);
  return entry != nullptr && entry->is_here && entry->is_ready && !entry->is_stalled;
}

bool Roll::is_stalled(const std::string& node) const {
  const Node* const entry = find(node);
  return entry != nullptr && entry->is_stalled;
}

bool Roll::is_left_out(const std::string& node) const {
  const Node* const entry = find(node);
  return entry != nullptr && (entry->is_out || (is_spent(*entry) && !entry->is_here));
}

int Roll::failures(const std::string& node) const {
  const Node* const entry = find(node);
  return entry == nullptr ? 0 : entry->failures;
}

const coord::NodeInfo* Roll::info(const std::string& node) const {
  const Node* const entry = find(node);
  return entry == nullptr || !entry->has_come ? nullptr : &entry->info;
}

std::size_t Roll::present() const {
  return static_cast<std::size_t>(std::ranges::count_if(nodes_, [](const auto& entry) {
    const Node& node = entry.second;
    return !node.is_out && (node.is_here || node.has_process);
  }));
}

std::vector<std::string> Roll::all() const { return options_.nodes; }

std::vector<std::string> Roll::available() const {
  std::vector<std::string> out;
  for (const std::string& name : options_.nodes) {
    const Node& node = nodes_.at(name);
    if (node.is_here && node.is_ready && !node.is_stalled && !node.is_out && clock_.now() >= node.not_before) out.push_back(name);
  }
  return out;
}

std::vector<std::string> Roll::due() const {
  std::vector<std::string> out;
  for (const std::string& name : options_.startable) {
    const Node& node = nodes_.at(name);
    if (!node.is_here && !node.has_process && !node.is_out && !is_spent(node) && clock_.now() >= node.not_before) out.push_back(name);
  }
  return out;
}

}  // namespace trireme::train
