// SPDX-License-Identifier: Apache-2.0
// Lines of a node's profile to means over all nodes.
#include "trireme/report/read/profile_part.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "trireme/base/json.h"

namespace trireme::report {
namespace {

double number(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_number() ? found->get<double>() : kUnknown;
}

std::string word(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

OpFacts op_of(const Json& json) {
  return {.name = word(json, "name"),
          .category = word(json, "category"),
          .pass = word(json, "pass"),
          .calls = number(json, "calls"),
          .seconds = number(json, "seconds"),
          .spread = number(json, "spread"),
          .share = number(json, "share"),
          .flops_per_second = number(json, "flops_per_second"),
          .bytes = number(json, "bytes"),
          .bytes_per_second = number(json, "bytes_per_second")};
}

// A section begins with its meta line; what stands before the first is of an unknown number of steps and counts nowhere.
void take(const Json& json, std::vector<OpProfile>& sections) {
  const std::string type = word(json, "type");
  if (type == "meta") sections.push_back({.steps = std::isfinite(number(json, "steps")) ? number(json, "steps") : 0});
  if (sections.empty()) return;
  if (type == "op") sections.back().ops.push_back(op_of(json));
  if (type == "category")
    sections.back().categories.push_back({.category = word(json, "category"),
                                          .seconds = number(json, "seconds"),
                                          .share = number(json, "share"),
                                          .spread = number(json, "spread")});
}

// A mean of means; what is unknown of one does not count.
struct Mean {
  double sum = 0, weight = 0;
  void add(double value, double by) {
    if (!std::isfinite(value)) return;
    sum += value * by;
    weight += by;
  }
  double value() const { return weight > 0 ? sum / weight : kUnknown; }
};

template <class Item>
struct Merged {
  Item first;
  Mean seconds, share, squares;
  double calls = 0;

  void add(const Item& item, double steps) {
    seconds.add(item.seconds, steps);
    share.add(item.share, steps);
    squares.add(item.spread * item.spread + item.seconds * item.seconds, steps);
  }
  // `steps` of all nodes: a node without this item spent nothing on it.
  Item finished(double steps) const {
    Item item = first;
    item.seconds = seconds.sum / steps;
    item.share = share.sum / steps;
    item.spread = std::sqrt(std::max(0.0, squares.sum / steps - item.seconds * item.seconds));
    return item;
  }
};

template <class Item, class IsSame>
std::vector<Item> merged(const std::vector<OpProfile>& profiles, std::vector<Item> OpProfile::*list, double steps, IsSame is_same) {
  std::vector<Merged<Item>> rows;
  for (const OpProfile& profile : profiles)
    for (const Item& item : profile.*list) {
      auto row = std::find_if(rows.begin(), rows.end(), [&](const Merged<Item>& r) { return is_same(r.first, item); });
      if (row == rows.end()) row = rows.insert(rows.end(), {.first = item});
      row->add(item, profile.steps);
    }
  std::vector<Item> items;
  for (const Merged<Item>& row : rows) items.push_back(row.finished(steps));
  std::ranges::stable_sort(items, std::greater<>(), &Item::seconds);
  return items;
}

}  // namespace

std::vector<OpProfile> read_profile(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<OpProfile> sections;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(R"({"type":"span")")) continue;  // most lines are spans, and they are for traces
    const Json json = parse_json_or_discard(line);
    if (json.is_object()) take(json, sections);
  }
  std::erase_if(sections, [](const OpProfile& section) { return !(section.steps > 0) || section.ops.empty(); });
  return sections;
}

OpProfile joined(const std::vector<OpProfile>& profiles) {
  OpProfile all;
  for (const OpProfile& profile : profiles) all.steps += profile.steps;
  all.categories = merged(profiles, &OpProfile::categories, all.steps,
                          [](const OpCategory& a, const OpCategory& b) { return a.category == b.category; });
  all.ops = merged(profiles, &OpProfile::ops, all.steps,
                   [](const OpFacts& a, const OpFacts& b) { return a.name == b.name && a.pass == b.pass && a.category == b.category; });
  return all;
}

void ProfilePart::look(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".jsonl") continue;
    File& file = files_[entry.path().filename().string()];
    const std::uintmax_t size = std::filesystem::file_size(entry.path(), error);
    if (size == file.size) continue;
    file = {.size = size, .sections = read_profile(entry.path())};
  }
}

std::optional<OpProfile> ProfilePart::profile() const {
  std::vector<OpProfile> known;
  for (const auto& [name, file] : files_) known.insert(known.end(), file.sections.begin(), file.sections.end());
  if (known.empty()) return std::nullopt;
  return joined(known);
}

}  // namespace trireme::report
