// SPDX-License-Identifier: Apache-2.0
// Joins, losses, ranks and pauses.
#include "trireme/train/conductor/node_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace trireme::train {
namespace {

constexpr double kFirstPause = 1;  // seconds
constexpr double kMaxPause = 60;

}  // namespace

void Node::on_joined(const coord::NodeInfo& joined) {
  info = joined;
  presence = Presence::preparing;
  if (process == Process::starting) process = Process::running;
  last_error.clear();
}

void Node::on_ready() {
  if (presence == Presence::preparing) presence = Presence::ready;
}

bool Node::on_lost(Seconds now) {
  if (std::exchange(presence, Presence::absent) == Presence::absent) return false;
  pause(now);
  ++deaths;
  return true;
}

void Node::on_process_ended(Seconds now) {
  // One that had joined is declared lost by the coordinator, too.
  if (std::exchange(process, Process::none) == Process::starting) pause(now);
}

void Node::pause(Seconds now) {
  ++failures;
  not_before = now + Seconds(std::min(kMaxPause, kFirstPause * std::exp2(failures - 1)));
}

NodeTable::NodeTable(NodeTableOptions options, const Clock& clock) : options_(std::move(options)), clock_(clock) {
  for (const std::string& node : options_.nodes) nodes_[node];
}

Node& NodeTable::at(const std::string& node) {
  const auto [entry, is_new] = nodes_.try_emplace(node);
  if (is_new) options_.nodes.push_back(node);
  return entry->second;
}

const Node* NodeTable::find(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

void NodeTable::add_startable(const std::string& node) {
  at(node);
  options_.startable.insert(node);
}

void NodeTable::assign_ranks(const std::vector<std::string>& members) {
  for (auto& [name, node] : nodes_) node.rank.reset();
  for (std::size_t i = 0; i < members.size(); ++i) at(members[i]).rank = static_cast<int>(i);
}

void NodeTable::on_progress() {
  for (auto& [name, node] : nodes_) {
    node.strikes = 0;
    if (!node.rank) continue;
    node.failures = node.deaths = 0;
    node.ran_out_of_memory = false;
  }
}

std::vector<std::string> NodeTable::members() const {
  std::map<int, std::string> by_rank;
  for (const auto& [name, node] : nodes_)
    if (node.rank) by_rank[*node.rank] = name;
  std::vector<std::string> out;
  for (auto& [rank, name] : by_rank) out.push_back(std::move(name));
  return out;
}

std::vector<std::string> NodeTable::available() const {
  std::vector<std::string> out;
  for (const std::string& name : options_.nodes)
    if (nodes_.at(name).is_available(clock_.now())) out.push_back(name);
  return out;
}

std::vector<std::string> NodeTable::due() const {
  std::vector<std::string> out;
  for (const std::string& name : options_.startable) {
    const Node* const node = find(name);
    if (node == nullptr || node->presence != Node::Presence::absent || node->process != Node::Process::none) continue;
    if (!node->is_excluded && !is_spent(*node) && clock_.now() >= node->not_before) out.push_back(name);
  }
  return out;
}

std::size_t NodeTable::present() const {
  return static_cast<std::size_t>(std::ranges::count_if(nodes_, [](const auto& entry) {
    const Node& node = entry.second;
    return !node.is_excluded && (node.presence != Node::Presence::absent || node.process != Node::Process::none);
  }));
}

bool NodeTable::is_left_out(const std::string& node) const {
  const Node* const entry = find(node);
  return entry != nullptr && (entry->is_excluded || (is_spent(*entry) && entry->presence == Node::Presence::absent));
}

std::string NodeTable::title(const std::string& node) const {
  const Node* const entry = find(node);
  if (entry == nullptr || !entry->info) return fmt::format("node {}", node);
  return entry->rank ? fmt::format("rank {} on {}", *entry->rank, entry->host()) : fmt::format("node {} on {}", node, entry->host());
}

}  // namespace trireme::train
