// SPDX-License-Identifier: Apache-2.0
// For tests: a coordinator and nodes on loopback.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "trireme/coord/coordinator.h"
#include "trireme/coord/membership.h"
#include "trireme/rpc/authority.h"

namespace trireme::coord {

constexpr Seconds kHour{3600};
constexpr Seconds kPatience{10};
constexpr std::string_view kSecret = "only the tests know this";

inline Seconds now() { return SteadyClock().now(); }

inline rpc::Credentials credentials_of(const std::string& role, const std::string& name) {
  return rpc::Authority::from_secret(kSecret).issue({.role = role, .name = name}, {}, kHour);
}

inline Coordinator::Options coordinator_options() {
  Coordinator::Options options;
  options.addresses = {"127.0.0.1"};
  options.credentials = credentials_of("coordinator", "0");
  options.version = "1.2";
  options.welcome = "the job";
  return options;
}

inline Membership::Options node_options(const std::string& coordinator, const std::string& name) {
  Membership::Options options;
  options.coordinator = coordinator;
  options.credentials = credentials_of("node", name);
  options.version = "1.2";
  options.info = {.host = "host" + name, .address = "127.0.0.1", .cores = 2, .process = ::getpid()};
  return options;
}

inline const JobFingerprint kFingerprint{.version = "1.2", .job = "aa", .model = "bb", .data = "cc"};

inline Membership join(const Coordinator& coordinator, const std::string& name) {
  return Membership::connect(node_options(coordinator.addresses().front(), name), kPatience);
}

inline std::string_view word(Event::Kind kind) {
  static constexpr std::array<std::string_view, 7> kWords = {"hello", "ready", "refused", "message", "failed", "left", "lost"};
  return kWords.at(static_cast<std::size_t>(kind));
}

// "lost 3: connection closed"
inline std::string next(Coordinator& coordinator) {
  const auto event = coordinator.next_event(kPatience);
  if (!event) return "nothing";
  const std::string& text = event->kind == Event::Kind::message ? event->message.bytes : event->reason;
  return fmt::format("{} {}{}{}", word(event->kind), event->node, text.empty() ? "" : ": ", text);
}

inline Generation generation_of(std::uint64_t number, const std::vector<std::string>& nodes) {
  Generation out{.number = number};
  for (const std::string& node : nodes) out.members.push_back({.node = node, .host = "host" + node, .address = "127.0.0.1"});
  return out;
}

// A node that is a member of generation 1.
struct Cluster {
  explicit Cluster(const std::vector<std::string>& names, Coordinator::Options options = coordinator_options())
      : coordinator(std::move(options)) {
    for (const std::string& name : names) {
      nodes.push_back(join(coordinator, name));
      nodes.back().ready(kFingerprint);
      EXPECT_EQ(next(coordinator), "hello " + name);
      EXPECT_EQ(next(coordinator), "ready " + name);
    }
    announce(1, names);
  }
  void announce(std::uint64_t number, const std::vector<std::string>& names) {
    coordinator.announce(generation_of(number, names));
    for (Membership& node : nodes) {
      const bool takes_part = std::ranges::find(names, node.node()) != names.end();
      EXPECT_EQ(takes_part ? node.await_generation(number - 1, kPatience).number : number, number);
    }
  }

  Coordinator coordinator;
  std::vector<Membership> nodes;
};

}  // namespace trireme::coord
