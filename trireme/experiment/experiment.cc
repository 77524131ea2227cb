// SPDX-License-Identifier: Apache-2.0
// [compare] to variants, each with a job of its own.
#include "trireme/experiment/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

#include "trireme/base/error.h"
#include "trireme/experiment/experiment_matrix.h"
#include "trireme/run/setup/data_directory.h"
#include "trireme/run/setup/data_lookup.h"
#include "trireme/run/setup/job_file.h"
#include "trireme/run/setup/short_forms.h"
#include "trireme/train/job/job.h"

namespace trireme::experiment {
namespace {

constexpr std::array<std::string_view, 3> kOwnKeys{"label", "nodes", "published"};  // of a variant; the others are tables of the job

bool is_own_key(std::string_view key) { return std::ranges::find(kOwnKeys, key) != kOwnKeys.end(); }

Config without(const Config& table, std::string_view key) {
  Config::Table rows = table.table();
  std::erase_if(rows, [&](const auto& row) { return row.first == key; });
  return {std::move(rows), table.origin()};
}

void check_keys(const Config& table, const std::vector<std::string_view>& known) {
  for (const auto& [key, value] : table.table())
    if (std::ranges::find(known, key) == known.end())
      throw Error{invalid_argument, "{}: [compare] has no '{}'; it has {}", value.origin(), key, fmt::join(known, ", ")};
}

std::map<std::string, double> published_of(const Config& variant) {
  const Config* table = variant.find("published");
  return table == nullptr ? std::map<std::string, double>{} : published_numbers(*table);
}

// A strategy is replaced as a whole, since options of one mean nothing to another.
Config job_of(const Config& base, const Config& variant) {
  Config::Table changes;
  for (const auto& [key, value] : variant.table()) {
    if (is_own_key(key)) continue;
    if (!value.is_table())
      throw Error{invalid_argument, "{}: '{}' in a variant is neither label, nodes, published nor a table of the job", value.origin(), key};
    changes.emplace_back(key, value);
  }
  Config changed(std::move(changes), variant.origin());
  run::expand_short_forms(changed);
  const bool has_strategy = variant.find("strategy") != nullptr;
  return overlaid(has_strategy ? without(base, "strategy") : base, changed);
}

Variant variant_of(const Config& base, const Config& table, std::int64_t nodes) {
  Variant variant{
      .label = table.at("label").text(), .folder = {}, .nodes = nodes, .job = job_of(base, table), .published = published_of(table)};
  if (const Config* own = table.find("nodes")) variant.nodes = own->integer();
  return variant;
}

void read_compare(const Config& file, Experiment& experiment) {
  const Config& compare = file.at("compare");
  check_keys(compare, {"title", "nodes", "seeds", "variants", "matrix", "exclude", "published"});
  if (const Config* title = compare.find("title")) experiment.title = title->text();
  const Config* matrix = compare.find("matrix");
  const Config* seeds = matrix != nullptr && matrix->find("seeds") != nullptr ? matrix->find("seeds") : compare.find("seeds");
  if (seeds != nullptr) {
    experiment.seeds.clear();
    for (const Config& seed : seeds->list()) experiment.seeds.push_back(seed.integer());
  }
  const Config* told = compare.find("nodes");
  const std::int64_t nodes = told == nullptr ? 0 : told->integer();
  const Config base = without(file, "compare");
  if (matrix != nullptr)
    experiment.variants = matrix_variants(base, compare, nodes);
  else if (compare.find("exclude") != nullptr || compare.find("published") != nullptr)
    throw Error{invalid_argument, "{}: exclude and published of [compare] are for a [compare.matrix]", compare.origin()};
  if (matrix != nullptr && compare.find("variants") == nullptr) return;
  for (const Config& variant : compare.at("variants").list()) experiment.variants.push_back(variant_of(base, variant, nodes));
}

void take_flags(const ExperimentFlags& flags, Experiment& experiment) {
  if (flags.seeds > 0) {
    experiment.seeds.resize(static_cast<std::size_t>(flags.seeds));
    std::iota(experiment.seeds.begin(), experiment.seeds.end(), 1);
  }
  for (Variant& variant : experiment.variants) {
    run::apply_settings(variant.job, flags.settings);
    if (flags.nodes > 0) variant.nodes = flags.nodes;
  }
}

void check_job(const Variant& variant) {
  Config job = variant.job;
  if (const fetch::SetEntry* set = run::public_set(job)) run::name_files(job, *set, run::data_directory());
  try {
    train::check_job(job);
  } catch (const Error& error) {  // thrown again: whatever is wrong with the job, the experiment's file is
    throw Error{invalid_argument, "variant {}: {}", variant.label, error.what()};
  }
}

void check(Experiment& experiment) {
  if (experiment.variants.empty()) throw Error{invalid_argument, "there is nothing to compare: no variants"};
  if (experiment.seeds.empty()) throw Error{invalid_argument, "there is nothing to compare: no seeds"};
  std::map<std::string, std::string> folders;
  for (Variant& variant : experiment.variants) {
    if (variant.nodes < 1)
      throw Error{invalid_argument, "variant {}: on how many nodes? Give -n, or nodes = ... in [compare]", variant.label};
    variant.folder = folder_name(variant.label);
    const auto [other, is_new] = folders.emplace(variant.folder, variant.label);
    if (!is_new)
      throw Error{invalid_argument, "two variants are called {} and {}: too alike for names of folders", other->second, variant.label};
    check_job(variant);
  }
}

}  // namespace

Config overlaid(const Config& base, const Config& over) {
  if (!base.is_table() || !over.is_table()) return over;
  Config::Table rows = base.table();
  for (const auto& [key, value] : over.table()) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&key = key](const auto& r) { return r.first == key; });
    if (row == rows.end())
      rows.emplace_back(key, value);
    else
      row->second = overlaid(row->second, value);
  }
  return {std::move(rows), base.origin()};
}

std::string folder_name(const std::string& label) {
  std::string name;
  for (const char c : label) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "variant" : name;
}

Experiment read_experiment(const std::vector<std::string>& files, const ExperimentFlags& flags) {
  Experiment experiment;
  experiment.seeds = {1};
  for (const std::string& file : files) {
    const Config job = run::load_job(file, {});
    const std::string stem = std::filesystem::path(file).stem().string();
    if (job.find("compare") == nullptr) {
      experiment.variants.push_back({.label = stem, .folder = {}, .nodes = 0, .job = job, .published = {}});
    } else if (files.size() == 1) {
      experiment.title = stem;
      read_compare(job, experiment);
    } else {
      throw Error{invalid_argument, "{}: a file with a table [compare] is an experiment of its own; give it alone", file};
    }
  }
  if (experiment.title.empty()) experiment.title = fmt::format("{} jobs", files.size());
  take_flags(flags, experiment);
  check(experiment);
  return experiment;
}

std::string to_toml(const Experiment& experiment) {
  std::string text = fmt::format("[compare]\ntitle = {}\nseeds = [{}]\n", toml_quoted(experiment.title), fmt::join(experiment.seeds, ", "));
  for (const Variant& variant : experiment.variants) {
    text += fmt::format("\n[[compare.variants]]\nlabel = {}\nnodes = {}\n", toml_quoted(variant.label), variant.nodes);
    std::vector<std::string> published;
    for (const auto& [name, value] : variant.published) published.push_back(fmt::format("{} = {}", toml_quoted(name), toml_number(value)));
    text += fmt::format("published = {{ {} }}\n", fmt::join(published, ", "));
    text += job_file_text(variant.job);
  }
  return text;
}

std::string job_file_text(const Config& job) {
  std::string text;
  for (const auto& [key, value] : job.table()) text += fmt::format("{} = {}\n", toml_quoted(key), value.to_toml());
  return text;
}

std::string job_text(const Variant& variant, std::int64_t seed) {
  Config job = variant.job;
  job.set("train.seed", fmt::format("{}", seed), "seeds");
  return job_file_text(job);
}

}  // namespace trireme::experiment
