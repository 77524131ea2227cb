// SPDX-License-Identifier: Apache-2.0
// Reads cluster.toml, hostfiles and lists of hosts.
#include "trireme/cluster/inventory/inventory.h"

#include <algorithm>
#include <charconv>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::cluster {
namespace {

constexpr std::uintmax_t kMaxBytes = 16 << 20;  // far beyond any list of machines; guards against a wrong file
constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::int64_t slots_of(std::string_view text, std::string_view origin) {
  constexpr std::int64_t kMost = 1024;
  std::int64_t slots = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), slots);
  if (fault != std::errc() || end != text.data() + text.size() || slots < 1 || slots > kMost)
    throw Error{invalid_argument, "{}: '{}' can't be a number of slots: it must be 1 to {}", origin, text, kMost};
  return slots;
}

// "h1", "h1:4", "[fd00::1]:4", "fd00::1"
Machine host_of(std::string_view text, std::string_view origin) {
  Machine machine;
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    machine.user = text.substr(0, at);
    check_name(machine.user, "user", origin);
    text.remove_prefix(at + 1);
  }
  std::string_view rest;
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
  if (bracket != std::string_view::npos) {
    machine.address = text.substr(1, bracket - 1);
    rest = text.substr(bracket + 1);
  } else {
    const std::size_t colon = is_ipv6(text) ? std::string_view::npos : text.find(':');
    machine.address = text.substr(0, colon);
    rest = colon == std::string_view::npos ? "" : text.substr(colon);
  }
  check_address(machine.address, origin);
  if (rest.starts_with(':')) {
    machine.slots = slots_of(rest.substr(1), origin);
  } else if (!rest.empty()) {
    throw Error{invalid_argument, "{}: '{}' after the address is not understood; write HOST:SLOTS", origin, rest};
  }
  return machine;
}

void read_hostfile_word(Machine& machine, std::string_view word, const std::string& origin, Inventory& inventory) {
  if (word.starts_with("slots=")) {
    machine.slots = slots_of(word.substr(6), origin);
  } else if (word.starts_with("max_slots=") || word.starts_with("max-slots=")) {
    inventory.warnings.push_back(fmt::format("{}: {} is ignored; slots=N says how many nodes run there", origin, word));
  } else {
    throw Error{invalid_argument, "{}: '{}' is not understood; write HOST slots=N", origin, word};
  }
}

void read_hostfile_line(std::string_view line, const std::string& origin, Inventory& inventory, std::vector<std::string>& origins) {
  line = trimmed(line.substr(0, line.find('#')));
  if (line.empty()) return;
  Machine machine;
  for (const std::string_view word : split(line, " \t")) {
    if (word.empty()) continue;
    if (machine.address.empty())
      machine = host_of(word, origin);
    else
      read_hostfile_word(machine, word, origin, inventory);
  }
  inventory.machines.push_back(std::move(machine));
  origins.push_back(origin);
}

// The fields of `table` over those that `machine` has already.
void read_machine(const Config& table, Machine& machine, std::string_view place) {
  OptionReader reader(table, std::string(place));
  describe(machine, reader);
  reader.finish();
}

Machine machine_defaults(const Config& file) {
  Machine defaults;
  const Config* table = file.find("defaults");
  if (table == nullptr) return defaults;
  for (const std::string_view own : {"name", "address"}) {
    if (const Config* found = table->find(own))
      throw Error{invalid_argument, "{}: [defaults] can't have '{}': each machine has its own", found->origin(), own};
  }
  read_machine(*table, defaults, "[defaults]");
  return defaults;
}

// Brackets are ssh's and browsers' way to write IPv6; inside Trireme an address has none.
std::string without_brackets(const std::string& address) {
  return address.starts_with('[') && address.ends_with(']') ? address.substr(1, address.size() - 2) : address;
}

void refuse_other_tables(const Config& file) {
  static const std::vector<std::string_view> kKnown{"machines", "defaults", "ssh"};
  for (const auto& [key, value] : file.table()) {
    if (std::find(kKnown.begin(), kKnown.end(), key) != kKnown.end()) continue;
    const std::string guess = nearest(key, kKnown);
    throw Error{invalid_argument, "{}: a cluster file has no '{}'{}", value.origin(), key,
                guess.empty() ? "; it has [[machines]], [defaults] and [ssh]" : fmt::format("; did you mean '{}'?", guess)};
  }
}

}  // namespace

Inventory parse_cluster_toml(std::string_view text, std::string_view name) {
  const Config file = Config::parse_toml(text, name);
  refuse_other_tables(file);
  Inventory inventory{.origin = std::string(name), .machines = {}, .warnings = {}, .ssh = {}};
  std::vector<std::string> origins;
  const Machine defaults = machine_defaults(file);
  if (const Config* machines = file.find("machines")) {
    for (const Config& table : machines->list()) {
      Machine& machine = inventory.machines.emplace_back(defaults);
      read_machine(table, machine, "a machine");
      machine.address = without_brackets(machine.address);
      origins.push_back(table.origin());
    }
  }
  if (const Config* ssh = file.find("ssh")) inventory.ssh = read_options<SshSettings>(*ssh, "[ssh]");
  finish_inventory(inventory, origins);
  return inventory;
}

Inventory parse_hostfile(std::string_view text, std::string_view name) {
  Inventory inventory{.origin = std::string(name), .machines = {}, .warnings = {}, .ssh = {}};
  std::vector<std::string> origins;
  std::size_t number = 0;
  for (const std::string_view line : split(text, "\n")) read_hostfile_line(line, fmt::format("{}:{}", name, ++number), inventory, origins);
  finish_inventory(inventory, origins);
  return inventory;
}

Inventory parse_host_list(std::string_view text) {
  Inventory inventory{.origin = "-H", .machines = {}, .warnings = {}, .ssh = {}};
  std::vector<std::string> origins;
  for (const std::string_view part : split(text, ",")) {
    const std::string_view host = trimmed(part);
    if (host.empty()) throw Error{invalid_argument, "-H: a host is missing in '{}'; write HOST:SLOTS,HOST:SLOTS", text};
    inventory.machines.push_back(host_of(host, "-H"));
    origins.emplace_back("-H");
  }
  finish_inventory(inventory, origins);
  return inventory;
}

Inventory read_hostfile(const std::filesystem::path& path) { return parse_hostfile(read_file(path, kMaxBytes), path.string()); }

Inventory read_inventory(const std::filesystem::path& path) {
  const std::string text = read_file(path, kMaxBytes);
  if (path.extension() == ".toml") return parse_cluster_toml(text, path.string());
  if (path.extension() == ".json" || trimmed(text).starts_with('{')) return parse_blueprint(text, path.string());
  return parse_hostfile(text, path.string());
}

}  // namespace trireme::cluster
