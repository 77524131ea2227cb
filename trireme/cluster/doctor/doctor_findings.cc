// SPDX-License-Identifier: Apache-2.0
// What an examination means, in words.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "trireme/base/table.h"
#include "trireme/cluster/doctor/doctor.h"

namespace trireme::cluster {
namespace {

constexpr double kMega = 1e6;
constexpr std::int64_t kMebi = 1 << 20;

std::string cause_of(const LinkResult& result) {
  if (result.fault == "timeout") return "no packet comes back, as when a firewall drops them";
  if (result.fault == "refused") return "the connection is refused although a program listens there, so a firewall does it";
  if (result.fault == "unreachable")
    return fmt::format("{}: a firewall forbids it, or there is no way between their networks", result.words);
  if (result.fault == "unresolved") return fmt::format("the name is not known there ({})", result.words);
  return result.words;
}

// A firewall is mended where the connection arrives.
std::string advice_for(const LinkResult& result, const std::string& where, const std::vector<std::string>& sources) {
  if (result.fault == "unresolved") return "write IP addresses in the cluster file, or add the name to /etc/hosts";
  if (result.fault == "broken") return "try it again; if it stays, look at cables, switches and the MTU on the way";
  std::vector<std::string> commands;
  for (const std::string& source : sources) commands.push_back(fmt::format("sudo ufw allow from {}", source));
  return fmt::format("on {}: {}   (with firewalld: sudo firewall-cmd --zone=trusted --add-source={})", where, fmt::join(commands, "; "),
                     fmt::join(sources, " --add-source="));
}

// The broken links to one place with one fault, reported together.
struct Broken {
  std::vector<std::string> names;
  std::vector<std::string> addresses;
  const LinkCheck* example = nullptr;
};

void judge_links(const Examination& examination, Findings& findings) {
  std::map<std::pair<std::size_t, std::string>, Broken> groups;
  for (const LinkCheck& link : examination.links) {
    if (link.result.fault.empty()) continue;
    Broken& group = groups[{link.to, link.result.fault}];
    group.names.push_back(name_of_place(examination, link.from));
    group.addresses.push_back(link.from_address);
    group.example = &link;
  }
  for (const auto& [key, group] : groups) {
    const std::string to = name_of_place(examination, key.first);
    findings.problems.push_back(fmt::format("{} can't connect to {} ({}): {}; {}", fmt::join(group.names, ", "), to,
                                            group.example->to_address, cause_of(group.example->result),
                                            advice_for(group.example->result, to, group.addresses)));
  }
}

void judge_speed(const Examination& examination, Findings& findings) {
  constexpr double kSlow = 90 * kMega;
  constexpr double kFarBelow = 3;
  std::vector<double> speeds;
  for (const LinkCheck& link : examination.links)
    if (link.result.fault.empty() && link.to != kHere) speeds.push_back(link.result.bits_per_second);
  if (speeds.empty()) return;
  std::nth_element(speeds.begin(), speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2), speeds.end());
  const double median = speeds[speeds.size() / 2];
  for (const LinkCheck& link : examination.links) {
    const double speed = link.result.bits_per_second;
    if (!link.result.fault.empty() || link.to == kHere || (speed > kSlow && speed * kFarBelow > median)) continue;
    const std::string beside = speed * kFarBelow > median ? "" : fmt::format(", others {:.0f} Mbit/s", median / kMega);
    findings.notes.push_back(
        fmt::format("{} to {}: only {:.0f} Mbit/s{}; the slowest link sets the pace of all-reduce (Wi-Fi, an old cable or port?)",
                    name_of_place(examination, link.from), name_of_place(examination, link.to), speed / kMega, beside));
  }
}

void judge_clock(const MachineCheck& check, Findings& findings) {
  constexpr double kNotable = 0.5;
  constexpr double kTooFar = 60;  // certificates of a job would not be valid yet
  const double apart = std::abs(check.clock_ahead);
  if (apart < std::max(kNotable, check.clock_uncertainty)) return;
  const std::string words = fmt::format("{}: its clock is {:.1f} s {} ours; let it be set by the network: sudo timedatectl set-ntp true",
                                        check.machine.name, apart, check.clock_ahead > 0 ? "ahead of" : "behind");
  (apart > kTooFar ? findings.problems : findings.notes).push_back(words);
}

void judge_room(const MachineCheck& check, Findings& findings) {
  const MachineFacts& facts = *check.facts;
  const auto human = [](std::int64_t bytes) { return human_bytes(static_cast<double>(bytes)); };
  if (facts.free_disk < 100 * kMebi)
    findings.problems.push_back(
        fmt::format("{}: only {} of disk are free in ~/.cache; make room", check.machine.name, human(facts.free_disk)));
  else if (facts.free_disk < 1024 * kMebi)
    findings.notes.push_back(
        fmt::format("{}: {} of disk are free in ~/.cache; data sets may not fit", check.machine.name, human(facts.free_disk)));
  if (facts.free_memory < 512 * kMebi)
    findings.notes.push_back(
        fmt::format("{}: {} of memory are free; large models won't fit", check.machine.name, human(facts.free_memory)));
}

void judge_promises(const MachineCheck& check, Findings& findings) {
  constexpr double kGiga = 1e9;
  const Machine& machine = check.machine;
  const MachineFacts& facts = *check.facts;
  if (machine.cores > facts.cores)
    findings.notes.push_back(fmt::format("{}: the cluster file says {} cores, {} can be used", machine.name, machine.cores, facts.cores));
  if (machine.memory_gb * kGiga > 1.1 * static_cast<double>(facts.memory))
    findings.notes.push_back(fmt::format("{}: the cluster file says {} GB of memory, it has {}", machine.name, machine.memory_gb,
                                         human_bytes(static_cast<double>(facts.memory))));
  if (machine.slots > facts.cores)
    findings.notes.push_back(
        fmt::format("{}: {} slots on {} cores: nodes would wait for each other", machine.name, machine.slots, facts.cores));
  if (facts.load > 0.5 * static_cast<double>(facts.cores))
    findings.notes.push_back(
        fmt::format("{}: it is busy (load {:.1f} on {} cores); it would slow all others", machine.name, facts.load, facts.cores));
}

void judge_unlike(const Examination& examination, Findings& findings) {
  std::map<std::string, std::vector<std::string>> by_extension;
  std::vector<std::string> with_bbr;
  for (const MachineCheck& check : examination.machines) {
    if (!check.facts) continue;
    by_extension[check.facts->vector_extensions].push_back(check.machine.name);
    if (check.facts->congestion_control == "bbr") with_bbr.push_back(check.machine.name);
  }
  if (by_extension.size() > 1) {
    std::vector<std::string> groups;
    for (const auto& [extension, names] : by_extension) groups.push_back(fmt::format("{}: {}", extension, fmt::join(names, ", ")));
    findings.notes.push_back(
        fmt::format("unlike CPUs ({}): set shares = \"speed\", so that the slower ones get less work", fmt::join(groups, "; ")));
  }
  if (!with_bbr.empty())
    findings.notes.push_back(fmt::format(
        "{}: TCP uses bbr, which can halve the speed in a local network; better: sudo sysctl -w net.ipv4.tcp_congestion_control=cubic",
        fmt::join(with_bbr, ", ")));
}

}  // namespace

Findings judge(const Examination& examination) {
  Findings findings;
  for (const MachineCheck& check : examination.machines) {
    if (!check.error.empty()) findings.problems.push_back(check.error);
    findings.notes.insert(findings.notes.end(), check.warnings.begin(), check.warnings.end());
    if (!check.facts) continue;
    judge_clock(check, findings);
    judge_room(check, findings);
    judge_promises(check, findings);
  }
  judge_links(examination, findings);
  judge_speed(examination, findings);
  judge_unlike(examination, findings);
  return findings;
}

}  // namespace trireme::cluster
