// SPDX-License-Identifier: Apache-2.0
// For tests: a JobMachine fed from a list, in virtual time, whose actions are text.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trireme/train/conductor/job_machine.h"

namespace trireme::train {

// What an action would do, in a line.
struct ActionText {
  std::string operator()(const AnnounceGeneration& a) const {
    std::vector<std::string> nodes;
    for (const coord::Member& member : a.generation.members) nodes.push_back(member.node);
    return fmt::format("announce generation {} of nodes {}, recorded to step {}", a.generation.number, fmt::join(nodes, " "),
                       a.recorded.step);
  }
  std::string operator()(const SendRequest& a) const {
    return fmt::format("request{}{}{} of {}", a.requests.stop ? " stop" : "", a.requests.checkpoint ? " checkpoint" : "",
                       a.requests.regroup ? " regroup" : "", a.node);
  }
  std::string operator()(const Acknowledge& a) const {
    return fmt::format("acknowledge step {} to {}", a.recorded.step, fmt::join(a.nodes, " "));
  }
  std::string operator()(const StartNode& a) const { return "start " + a.node; }
  std::string operator()(const DismissNode& a) const { return "dismiss " + a.node; }
  std::string operator()(const DismissAll& /*a*/) const { return "dismiss all"; }
  std::string operator()(const Say& a) const { return "say: " + a.line; }
  std::string operator()(const WriteRecord& a) const { return fmt::format("record {}", a.type); }
  std::string operator()(const WriteEvent& a) const { return fmt::format("event {}", a.type); }
  std::string operator()(const Observe<StepRecord>& a) const { return fmt::format("observe step {}", a.record.step); }
  std::string operator()(const Observe<EpochRecord>& a) const { return fmt::format("observe epoch {}", a.record.epoch); }
  std::string operator()(const Observe<ServerRecord>& a) const { return fmt::format("observe server {}", a.record.server); }
  std::string operator()(const Observe<SwitchRecord>& a) const { return fmt::format("observe switch to {}", a.record.to); }
  std::string operator()(const Observe<CheckpointRecord>& a) const { return fmt::format("observe checkpoint {}", a.record.step); }
  std::string operator()(const Observe<Score>& /*a*/) const { return "observe test"; }
  std::string operator()(const Fail& a) const { return fmt::format("fail: {}", a.error.what()); }
  std::string operator()(const Complete& a) const { return fmt::format("complete: {}", name_of(a.result.ending)); }
};

class JobScript {
 public:
  static constexpr Seconds kTick{0.02};

  explicit JobScript(const JobOptions& options) : machine_(options, Cursor{}, now_) {}

  std::vector<std::string> feed(const JobEvent& event) {
    std::vector<std::string> out;
    for (const Action& action : machine_.apply(now_, event)) {
      if (const auto* const announced = std::get_if<AnnounceGeneration>(&action)) generation_ = announced->generation.number;
      out.push_back(std::visit(ActionText{}, action));
    }
    return out;
  }
  std::vector<std::string> feed(const std::vector<JobEvent>& events) {
    std::vector<std::string> out;
    for (const JobEvent& event : events) std::ranges::move(feed(event), std::back_inserter(out));
    return out;
  }
  std::vector<std::string> tick(Seconds later = kTick, std::size_t connected = 3) {
    now_ += later;
    return feed(Tick{.connected = connected});
  }
  void join(const std::string& node) { feed({NodeJoined{node, {.host = "host" + node}}, NodeReady{node}}); }
  // By a member of the current generation.
  template <class Content>
  GenerationReport report(const std::string& node, Content content) const {
    return {node, generation_, std::move(content)};
  }
  std::uint64_t generation() const { return generation_; }
  JobPhase phase() const { return machine_.phase(); }

 private:
  Seconds now_{1000};
  JobMachine machine_;
  std::uint64_t generation_ = 0;
};

}  // namespace trireme::train
