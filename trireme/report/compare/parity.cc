// SPDX-License-Identifier: Apache-2.0
// Checks of a set of runs, one quantity after another.
#include "trireme/report/compare/parity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "trireme/report/document/words.h"

namespace trireme::report {
namespace {

using Groups = std::vector<Group>;

// "MW, SS: 47; PS: 422", values in the order of their first run; empty if all are alike.
std::string differing(const Groups& groups, const std::function<std::string(const RunDocument&)>& value) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;
  for (const Group& group : groups) {
    const std::string text = value(group.first());
    auto row = std::ranges::find(rows, text, [](const auto& r) { return r.first; });
    if (row == rows.end()) row = rows.insert(rows.end(), {text, {}});
    row->second.push_back(group.label);
  }
  if (rows.size() < 2) return "";
  std::vector<std::string> words;
  for (const auto& [text, labels] : rows) words.push_back(fmt::format("{}: {}", fmt::join(labels, ", "), text.empty() ? "–" : text));
  return fmt::format("{}", fmt::join(words, "; "));
}

void check_updates(const Groups& groups, std::vector<ParityNote>& notes) {
  const auto by_updates = [](const Group& a, const Group& b) {
    return a.first().result.updates_per_epoch < b.first().result.updates_per_epoch;
  };
  Groups known;
  for (const Group& group : groups)
    if (std::isfinite(group.first().result.updates_per_epoch)) known.push_back(group);
  if (known.size() < 2) return;
  const auto [least, most] = std::ranges::minmax_element(known, by_updates);
  const double few = least->first().result.updates_per_epoch, many = most->first().result.updates_per_epoch;
  if (many < 1.02 * few) return;
  notes.push_back({"warning", fmt::format("{} makes {:.0f} updates an epoch, {} {:.0f}: their accuracies differ for that reason too ({})",
                                          least->label, few, most->label, many, differing(known, [](const RunDocument& d) {
                                            return fmt::format("{:.0f}", d.result.updates_per_epoch);
                                          }))});
}

// The last batch of an epoch may be smaller, so that mean updates differ a little.
template <class Value>
bool are_alike(const Groups& groups, Value value) {
  double least = kUnknown, most = kUnknown;
  for (const Group& group : groups) {
    least = std::fmin(least, value(group.first()));
    most = std::fmax(most, value(group.first()));
  }
  return !(most > 1.06 * least);
}

void check_rates(const Groups& groups, std::vector<ParityNote>& notes) {
  const auto per_sample = [](const RunDocument& d) { return d.result.rate_per_sample; };
  const std::string rates = differing(groups, [](const RunDocument& d) { return fmt::format("{:.4g}", d.result.highest_rate); });
  if (!are_alike(groups, per_sample))
    notes.push_back({"warning", fmt::format("the learning rate, summed over the updates, for each sample differs: {} (highest rate: {})",
                                            differing(groups, [&](const RunDocument& d) { return fmt::format("{:.2g}", per_sample(d)); }),
                                            rates.empty() ? "the same" : rates)});
  else if (!rates.empty())
    notes.push_back(
        {"note", fmt::format("the highest learning rate differs ({}), but summed over the updates it is the same for each sample", rates)});
}

void check_penalty(const Groups& groups, std::vector<ParityNote>& notes) {
  const std::string penalised = differing(groups, [](const RunDocument& d) {
    return d.result.penalty > 0 ? "loss and penalty are minimised" : std::isfinite(d.result.penalty) ? "no penalty" : "unknown";
  });
  if (!penalised.empty()) notes.push_back({"warning", fmt::format("not all minimise the same: {}", penalised)});
}

struct Check {
  const char* severity;
  const char* words;
  std::string (*value)(const RunDocument&);
};

const Check kChecks[] = {
    {"warning", "the number of epochs differs", [](const RunDocument& d) { return plain(d.run.epochs); }},
    {"warning", "the training samples differ in number", [](const RunDocument& d) { return plain(d.run.samples); }},
    {"warning", "accuracy and loss are measured on different samples",
     [](const RunDocument& d) { return fmt::format("{} {}", plain(d.result.measured_samples), d.result.measured_on); }},
    {"warning", "the parameters differ in number", [](const RunDocument& d) { return plain(d.run.parameters); }},
    {"warning", "the versions of Trireme differ", [](const RunDocument& d) { return d.run.trireme; }},
    {"note", "the threads of a worker differ, and with them the times", [](const RunDocument& d) { return plain(d.run.threads); }},
    {"note", "the machine that coordinates differs, and maybe the times", [](const RunDocument& d) { return d.run.host; }},
};

// Settings that decide what is learned, not how the work is divided.
bool decides_learning(const std::string& key) {
  if (key == "train.epochs" || key == "train.seed" || key == "train.batch_size" || key == "data.train" || key == "data.test") return false;
  const bool is_pipeline = key.starts_with("data.pipeline.") && key != "data.pipeline.shuffle";
  return !is_pipeline && (key.starts_with("data.") || key.starts_with("model.") || key.starts_with("train.optimizer.") ||
                          key.starts_with("train.schedule.") || key.starts_with("train.early_stopping.") ||
                          key == "strategy.sync_batch_norm" || key == "strategy.wire" || key == "strategy.slots");
}

void check_settings(const Groups& groups, std::vector<ParityNote>& notes) {
  std::set<std::string> seen;
  for (const Group& group : groups)
    for (const ConfigRow& row : group.first().run.config) {
      if (!decides_learning(row.key) || !seen.insert(row.key).second) continue;
      const std::string text = differing(groups, [&](const RunDocument& d) { return d.run.setting(row.key); });
      const bool is_known = std::ranges::all_of(groups, [&](const Group& g) { return !g.first().run.setting(row.key).empty(); });
      if (!text.empty() && is_known) notes.push_back({"warning", fmt::format("{} differs: {}", row.key, text)});
    }
}

std::string seeds_text(const Group& group) {
  std::set<double> seeds;
  for (const ComparedRun* run : group.runs) seeds.insert(run->document.run.seed);
  std::vector<std::string> words;
  for (const double seed : seeds) words.push_back(plain(seed));
  return fmt::format("{}", fmt::join(words, " "));
}

void check_seeds(const Groups& groups, std::vector<ParityNote>& notes) {
  std::vector<std::string> words;
  bool is_alike = true, is_single = false;
  for (const Group& group : groups) {
    words.push_back(fmt::format("{}: {}", group.label, seeds_text(group)));
    is_alike = is_alike && seeds_text(group) == seeds_text(groups.front());
    is_single = is_single || group.runs.size() < 2;
  }
  if (!is_alike) notes.push_back({"warning", fmt::format("the seeds differ: {}", fmt::join(words, "; "))});
  if (is_single) notes.push_back({"note", "some have one run only, whose spread is not known: a difference may be chance"});
}

void check_endings(const Groups& groups, std::vector<ParityNote>& notes) {
  for (const Group& group : groups)
    for (const ComparedRun* run : group.runs)
      if (run->document.run.state != "completed")
        notes.push_back(
            {"warning", fmt::format("{} ({}) did not train to its end: {}", group.label, run->document.run.name, run->document.run.state)});
}

void check_set(const Groups& groups, std::vector<ParityNote>& notes) {
  if (groups.size() >= 2) {
    check_updates(groups, notes);
    check_rates(groups, notes);
    check_penalty(groups, notes);
    for (const Check& check : kChecks)
      if (const std::string text = differing(groups, check.value); !text.empty())
        notes.push_back({check.severity, fmt::format("{}: {}", check.words, text)});
    check_settings(groups, notes);
  }
  check_seeds(groups, notes);
  check_endings(groups, notes);
}

}  // namespace

std::vector<ParityNote> parity_of(const std::vector<ComparedRun>& runs) {
  std::vector<std::pair<std::string, Groups>> sets;
  for (const Group& group : groups_of(runs)) {
    const std::string key = group.first().run.model + " on " + group.first().run.data;
    auto set = std::ranges::find(sets, key, [](const auto& row) { return row.first; });
    if (set == sets.end()) set = sets.insert(sets.end(), {key, {}});
    set->second.push_back(group);
  }
  std::vector<ParityNote> all;
  for (const auto& [key, groups] : sets) {
    std::vector<ParityNote> notes;
    check_set(groups, notes);
    for (ParityNote& note : notes) {
      if (sets.size() > 1) note.text = key + ": " + note.text;
      all.push_back(std::move(note));
    }
  }
  return all;
}

}  // namespace trireme::report
