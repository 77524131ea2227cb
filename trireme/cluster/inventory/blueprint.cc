// SPDX-License-Identifier: Apache-2.0
// Blueprints: the JSON list of machines of earlier tools, as their users really write it.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "trireme/base/error.h"
#include "trireme/cluster/inventory/inventory.h"
#include "trireme/cluster/inventory/loose_json.h"

namespace trireme::cluster {
namespace {

// Word processors and PDF files turn quotes into typographic ones.
std::string with_plain_quotes(std::string_view text, std::string_view name, std::vector<std::string>& warnings) {
  std::string result(text);
  bool found = false;
  for (const std::string_view quote : {"\u201c", "\u201d", "\u201e", "\u201f"}) {
    for (std::size_t at = result.find(quote); at != std::string::npos; at = result.find(quote, at)) {
      result.replace(at, quote.size(), "\"");
      found = true;
    }
  }
  if (found) warnings.push_back(fmt::format("{}: typographic quotes are read as plain ones", name));
  return result;
}

// "Energy_Efficient" and "energy efficient" are the same key.
std::string normal_key(std::string_view key) {
  std::string normal;
  for (const char c : key) normal += c == '_' || c == '-' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return normal;
}

bool yes_or_no(const Config& value) {
  if (!value.is_text()) return value.boolean();
  const std::string text = normal_key(value.text());
  if (text == "yes" || text == "true") return true;
  if (text == "no" || text == "false") return false;
  throw Error{invalid_argument, "{}: expected yes or no, found {}", value.origin(), value.describe_value()};
}

std::int64_t whole_number(const Config& value, std::string_view key, std::int64_t min, std::int64_t max) {
  std::int64_t number = 0;
  if (value.is_text()) {
    const std::string& text = value.text();
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || fault != std::errc() || end != text.data() + text.size()) number = value.integer();  // throws in its own words
  } else {
    number = value.integer();
  }
  if (number < min || number > max)
    throw Error{invalid_argument, "{}: \"{}\" is {}, must be {} to {}", value.origin(), key, number, min, max};
  return number;
}

class BlueprintReader {
 public:
  explicit BlueprintReader(std::string_view name) { inventory_.origin = name; }

  Inventory read(std::string_view text) {
    const std::string plain = with_plain_quotes(text, inventory_.origin, inventory_.warnings);
    const Config file = parse_loose_json(plain, inventory_.origin, inventory_.warnings);
    const Config* connections = file.find("connections");
    if (connections == nullptr)
      throw Error{invalid_argument, "{}: the list \"connections\" is missing; a blueprint is {{\"connections\": [{{\"IP\": ...}}, ...]}}",
                  inventory_.origin};
    for (const Config& entry : connections->list()) {
      origins_.push_back(entry.origin());
      inventory_.machines.push_back(machine(entry));
    }
    finish_inventory(inventory_, origins_);
    return std::move(inventory_);
  }

 private:
  Machine machine(const Config& entry) {
    Machine machine;
    for (const auto& [key, value] : entry.table()) read_field(machine, key, value);
    return machine;
  }

  void read_field(Machine& machine, const std::string& key, const Config& value) {
    constexpr std::int64_t kMost = 1024;
    const std::string normal = normal_key(key);
    if (normal == "ip" || normal == "address" || normal == "host") {
      machine.address = value.text();
    } else if (normal == "username" || normal == "user") {
      machine.user = value.text();
    } else if (normal == "name") {
      machine.name = value.text();
    } else if (normal == "password") {
      ignore_password(value);
    } else if (normal == "gpus" || normal == "gpu") {
      machine.gpus = whole_number(value, key, 0, kMost);
    } else if (normal == "energy efficient") {
      machine.energy_efficient = yes_or_no(value);
    } else if (normal == "port") {
      machine.port = whole_number(value, key, 1, 65535);
    } else if (normal == "slots") {
      machine.slots = whole_number(value, key, 1, kMost);
    } else if (normal == "cores") {
      machine.cores = whole_number(value, key, 0, kMost);
    } else {
      inventory_.warnings.push_back(fmt::format("{}: \"{}\" is not known and ignored", value.origin(), key));
    }
  }

  // Once is enough: a blueprint has one for every machine.
  void ignore_password(const Config& value) {
    if (!password_was_mentioned_)
      inventory_.warnings.push_back(
          fmt::format("{}: passwords are ignored: machines are logged in to with ssh keys (ssh-copy-id USER@HOST); better take the "
                      "passwords out of the file",
                      value.origin()));
    password_was_mentioned_ = true;
  }

  Inventory inventory_;
  std::vector<std::string> origins_;
  bool password_was_mentioned_ = false;
};

}  // namespace

Inventory parse_blueprint(std::string_view text, std::string_view name) { return BlueprintReader(name).read(text); }

}  // namespace trireme::cluster
