// SPDX-License-Identifier: Apache-2.0
// What every description of machines must keep to: harmless characters, no machine twice.
#include "trireme/cluster/inventory/machine.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "trireme/base/error.h"
#include "trireme/base/host.h"

namespace trireme::cluster {
namespace {

constexpr std::string_view kWordCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
constexpr std::size_t kMaxAddress = 253;  // of DNS
constexpr std::int64_t kMaxSlots = 1024;
constexpr std::int64_t kMaxPort = 65535;

bool is_word(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.find_first_not_of(kWordCharacters) == std::string_view::npos;
}

// Text from a file, fit to stand in a message: control characters would disturb the terminal.
std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string result;
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text.size() > kMost ? result + "..." : result;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string default_name(const Machine& machine) {
  return machine.port == Machine{}.port ? machine.address : join_host_port(machine.address, machine.port);
}

void check_machine(const Machine& machine, std::string_view origin) {
  check_address(machine.address, origin);
  if (!machine.user.empty()) check_name(machine.user, "user", origin);
  if (machine.name != default_name(machine)) check_name(machine.name, "name", origin);
  for (const std::string& label : machine.labels) check_name(label, "label", origin);
}

void check_twins(const Inventory& inventory, const std::vector<std::string>& origins) {
  std::map<std::string, std::size_t> by_address;
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < inventory.machines.size(); ++i) {
    const Machine& machine = inventory.machines[i];
    const auto [same, is_new] = by_address.emplace(lower(join_host_port(machine.address, machine.port)), i);
    if (!is_new)
      throw Error{invalid_argument, "{}: machine {} stands there twice (first at {}); for several nodes on it write it once with slots = N",
                  origins[i], join_host_port(machine.address, machine.port), origins[same->second]};
    const auto [namesake, is_new_name] = by_name.emplace(machine.name, i);
    if (!is_new_name)
      throw Error{invalid_argument, "{}: a machine named '{}' is there already ({}); give each a name of its own", origins[i], machine.name,
                  origins[namesake->second]};
  }
}

}  // namespace

void describe(Machine& m, OptionVisitor& visit) {
  visit("name", m.name, "what it is called in messages; its address if left out");
  visit("address", m.address, "host name or IP");
  visit("user", m.user, "to log in as; if left out, as ssh has it");
  visit("port", m.port, "of its ssh server", 1, kMaxPort);
  visit("slots", m.slots, "nodes to run on it", 1, kMaxSlots);
  visit("cores", m.cores, "of its CPU; 0: find out", 0, kNoLimit);
  visit("memory_gb", m.memory_gb, "main memory; 0: find out", 0.0);
  visit("gpus", m.gpus, "graphics processors in it", 0, kNoLimit);
  visit("energy_efficient", m.energy_efficient, "chosen by --energy");
  visit("watts", m.watts, "power drawn under load", 0.0);
  visit("price", m.price, "of an hour", 0.0);
  visit("labels", m.labels, "words to choose machines by");
}

void describe(SshSettings& s, OptionVisitor& visit) {
  visit("identity_file", s.identity_file, "private key; if left out, as ssh has it");
  visit("known_hosts_file", s.known_hosts_file, "keys of the machines; if left out, as ssh has it");
  visit("accept_new", s.accept_new, "trust a machine never seen before; a changed key is always refused");
}

bool is_ipv6(std::string_view address) {
  in6_addr parsed{};
  const std::string_view plain = address.substr(0, address.find('%'));
  return inet_pton(AF_INET6, std::string(plain).c_str(), &parsed) == 1;
}

void check_address(std::string_view address, std::string_view origin) {
  if (address.empty()) throw Error{invalid_argument, "{}: a machine has no address; write address = \"its host name or IP\"", origin};
  const std::size_t percent = address.find('%');
  const bool zone_is_fine = percent == std::string_view::npos || is_word(address.substr(percent + 1));
  const bool is_fine = is_ipv6(address) ? zone_is_fine && address.find('\0') == std::string_view::npos : is_word(address);
  if (!is_fine || address.size() > kMaxAddress)
    throw Error{invalid_argument, "{}: '{}' is not a host name or IP address (letters, digits, '.', '-', '_'; no '-' in front)", origin,
                shown(address)};
}

void check_name(std::string_view name, std::string_view what, std::string_view origin) {
  if (!is_word(name))
    throw Error{invalid_argument, "{}: '{}' can't be used as {}: letters, digits, '.', '-' and '_' are allowed, and no '-' in front",
                origin, shown(name), what};
}

void check_path(std::string_view path, std::string_view what, std::string_view origin) {
  const std::string allowed = std::string(kWordCharacters) + "/~+@,=";
  if (path.empty() || path.front() == '-' || path.find_first_not_of(allowed) != std::string_view::npos)
    throw Error{invalid_argument, "{}: '{}' can't be used as {}: letters, digits and ./~+@,=_- are allowed, and no '-' in front", origin,
                shown(path), what};
}

void finish_inventory(Inventory& inventory, const std::vector<std::string>& origins) {
  if (inventory.machines.empty()) throw Error{invalid_argument, "{}: there is no machine in it; name at least one", inventory.origin};
  ensure(origins.size() == inventory.machines.size(), "each machine has a place");
  for (std::size_t i = 0; i < inventory.machines.size(); ++i) {
    Machine& machine = inventory.machines[i];
    if (machine.name.empty()) machine.name = default_name(machine);
    check_machine(machine, origins[i]);
  }
  check_twins(inventory, origins);
  const SshSettings& ssh = inventory.ssh;
  if (!ssh.identity_file.empty()) check_path(ssh.identity_file, "identity_file", inventory.origin);
  if (!ssh.known_hosts_file.empty()) check_path(ssh.known_hosts_file, "known_hosts_file", inventory.origin);
}

}  // namespace trireme::cluster
