// SPDX-License-Identifier: Apache-2.0
// Where the time of a step goes, side by side: every ratio stands beside the share of the step that it is a ratio of.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trireme/report/compare/tables.h"
#include "trireme/report/document/words.h"

namespace trireme::report {
namespace {

using Document = const RunDocument&;

constexpr std::size_t kMaxOps = 40;

struct Row {
  const char* part;
  const char* title;
};
constexpr Row kRows[] = {{"input_wait", "input: wait that the step sees"},
                         {"compute", "forward and backward"},
                         {"forward", "forward"},
                         {"backward", "backward"},
                         {"exposed", "exchange: exposed, after backward"},
                         {"optimizer", "optimizer"},
                         {"idle", "idle"},
                         {"read", "beside it: reading, in the background"},
                         {"decode", "beside it: decoding, in the background"},
                         {"exchange", "beside it: exchange, submitted to finished"}};

std::string ratio_title(const std::vector<Group>& groups, std::size_t i) {
  return fmt::format("{} / {}", groups[i].label, groups[0].label);
}

void add_group_columns(const std::vector<Group>& groups, Table& table) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    table.columns.push_back(groups[i].label + " (ms)");
    table.columns.push_back(groups[i].label + " (% of its step)");
    if (i > 0) table.columns.push_back(ratio_title(groups, i));
  }
}

// Milliseconds, share and ratio for each group.
template <class Seconds, class Share>
std::vector<std::string> cells(const std::vector<Group>& groups, Seconds seconds, Share share) {
  std::vector<std::string> row;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Spread time = spread_of(groups[i], seconds);
    row.push_back(
        with_spread({.mean = 1e3 * time.mean, .deviation = 1e3 * time.deviation}, [](double v) { return fixed(v, v < 1 ? 4 : 3); }));
    row.push_back(fixed(100 * spread_of(groups[i], share).mean, 1));
    if (i > 0) row.push_back(fixed(time.mean / spread_of(groups[0], seconds).mean, 2));
  }
  return row;
}

const OpFacts* op_of(Document d, const OpFacts& like) {
  if (!d.ops) return nullptr;
  const auto found = std::ranges::find_if(
      d.ops->ops, [&](const OpFacts& op) { return op.name == like.name && op.pass == like.pass && op.category == like.category; });
  return found == d.ops->ops.end() ? nullptr : &*found;
}

const OpCategory* category_of(Document d, const std::string& name) {
  if (!d.ops) return nullptr;
  const auto found = std::ranges::find(d.ops->categories, name, &OpCategory::category);
  return found == d.ops->categories.end() ? nullptr : &*found;
}

template <class Item, class Find>
std::vector<std::string> item_cells(const std::vector<Group>& groups, Find find_item) {
  return cells(
      groups,
      [&](Document d) {
        const Item* item = find_item(d);
        return item == nullptr ? kUnknown : item->seconds;
      },
      [&](Document d) {
        const Item* item = find_item(d);
        return item == nullptr ? kUnknown : item->share;
      });
}

double epochs_done(Document d) { return d.progress.samples_seen / d.run.samples; }

}  // namespace

void add_steps(const std::vector<Group>& groups, Tables& tables) {
  Table table{.title = "Times of a step",
              .columns = {"part"},
              .note =
                  "Means over the steps of all workers, their first one left out. The parts make up the step; what is beside it happens at "
                  "the same time on "
                  "other threads and may exceed 100 %."};
  add_group_columns(groups, table);
  const auto has = [&](const char* part) {
    return std::ranges::any_of(groups, [&](const Group& g) { return std::isfinite(g.first().anatomy.seconds(part)); });
  };
  for (const Row& row : kRows) {
    if (!has(row.part)) continue;
    std::vector<std::string> line{row.title};
    const auto rest = cells(
        groups, [&](Document d) { return d.anatomy.seconds(row.part); }, [&](Document d) { return d.anatomy.share(row.part); });
    line.insert(line.end(), rest.begin(), rest.end());
    table.rows.push_back(std::move(line));
  }
  if (table.rows.empty()) return;
  std::vector<std::string> whole{"step"};
  const auto rest = cells(
      groups, [](Document d) { return d.anatomy.step_seconds; },
      [](Document d) { return d.anatomy.step_seconds / d.anatomy.step_seconds; });
  whole.insert(whole.end(), rest.begin(), rest.end());
  table.rows.push_back(std::move(whole));
  tables.push_back(std::move(table));
}

void add_input(const std::vector<Group>& groups, Tables& tables) {
  Table table{
      .title = "Reading and preparing data, an epoch",
      .columns = {"run", "reading (s)", "decoding and preparing (s)", "wait that steps saw (s)"},
      .note = "Seconds of work of threads in the background, and of waiting for them, summed over all workers and divided by the epochs."};
  for (const Group& group : groups) {
    const auto text = [&](const char* part) {
      return with_spread(spread_of(group, [&](Document d) { return d.anatomy.seconds(part) * d.anatomy.steps / epochs_done(d); }),
                         [](double v) { return fixed(v, 3); });
    };
    if (std::isfinite(group.first().anatomy.seconds("read")))
      table.rows.push_back({group.label, text("read"), text("decode"), text("input_wait")});
  }
  if (!table.rows.empty()) tables.push_back(std::move(table));
}

void add_ops(const std::vector<Group>& groups, Tables& tables) {
  const auto profiled = std::ranges::find_if(groups, [](const Group& g) { return g.first().ops.has_value(); });
  if (profiled == groups.end()) return;
  const OpProfile& profile = *profiled->first().ops;
  Table kinds{.title = "Operators by category", .columns = {"category"}, .note = "Milliseconds of a step, mean over the profiled steps."};
  add_group_columns(groups, kinds);
  for (const OpCategory& category : profile.categories) {
    std::vector<std::string> line{category.category};
    const auto rest = item_cells<OpCategory>(groups, [&](Document d) { return category_of(d, category.category); });
    line.insert(line.end(), rest.begin(), rest.end());
    kinds.rows.push_back(std::move(line));
  }
  tables.push_back(std::move(kinds));
  Table table{.title = "Operators",
              .columns = {"operator", "pass", "category"},
              .note = "The longest of the first profiled run; milliseconds of a step."};
  add_group_columns(groups, table);
  std::vector<OpFacts> ops = profile.ops;
  std::ranges::stable_sort(ops, std::greater<>(), &OpFacts::seconds);
  for (std::size_t i = 0; i < std::min(ops.size(), kMaxOps); ++i) {
    std::vector<std::string> line{ops[i].name, ops[i].pass, ops[i].category};
    const auto rest = item_cells<OpFacts>(groups, [&](Document d) { return op_of(d, ops[i]); });
    line.insert(line.end(), rest.begin(), rest.end());
    table.rows.push_back(std::move(line));
  }
  tables.push_back(std::move(table));
}

void add_servers(const std::vector<Group>& groups, Tables& tables) {
  Table table{.title = "Parameter servers",
              .columns = {"run", "servers", "pushes", "dropped", "busiest server (%)", "workers wait for servers (%)", "staleness, mean",
                          "staleness, most"},
              .note = "Staleness is the number of updates by others since a push's parameters were pulled."};
  for (const Group& group : groups) {
    const RunDocument& d = group.first();
    if (d.servers.empty()) continue;
    double busy = kUnknown;
    for (const ServerFacts& server : d.servers) busy = std::fmax(busy, server.busy_share);
    table.rows.push_back({group.label, plain(static_cast<double>(d.servers.size())), plain(d.servers.front().pushes),
                          plain(d.servers.front().dropped), fixed(100 * busy, 1), fixed(100 * d.server_wait_share, 1),
                          fixed(d.staleness ? d.staleness->mean : kUnknown, 2), plain(d.staleness ? d.staleness->max : kUnknown)});
  }
  if (!table.rows.empty()) tables.push_back(std::move(table));
}

}  // namespace trireme::report
