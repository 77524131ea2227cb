// SPDX-License-Identifier: Apache-2.0
// Timing candidates round-robin, and the cache file.
#include "trireme/engine/algorithm_choice.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/engine/kernels/cpu.h"

namespace trireme::engine {
namespace {

constexpr int kRounds = 4;
constexpr double kHopeless = 1.6;  // a candidate this much slower in the first round is dropped

// {"<cpu>": {"<key>": "<label>"}}; anything else counts as empty.
Json load(const std::filesystem::path& path) {
  if (path.empty() || !std::filesystem::exists(path)) return Json::object();
  Json parsed = parse_json_or_discard(read_file(path));
  return parsed.is_object() ? parsed : Json::object();
}

double seconds_of(const std::vector<BoundPrimitive>& primitives) {
  const auto start = std::chrono::steady_clock::now();
  for (const BoundPrimitive& primitive : primitives) primitive.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::size_t rounded(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

}  // namespace

AlgorithmChooser::AlgorithmChooser(const Device& device, Algorithms algorithms, std::filesystem::path cache_file)
    : device_(device), algorithms_(algorithms), cache_file_(std::move(cache_file)), cpu_(cpu_name()) {
  const Json file = load(cache_file_);
  if (!file.contains(cpu_) || !file[cpu_].is_object()) return;
  for (const auto& [key, label] : file[cpu_].items()) {
    if (label.is_string()) known_[key] = label.get<std::string>();
  }
}

const Candidate& AlgorithmChooser::choose(const Question& question) {
  ensure(!question.candidates.empty(), "a question has candidates");
  if (algorithms_ == Algorithms::direct) return question.candidates.front();
  if (const auto known = known_.find(question.key); known != known_.end()) {
    for (const Candidate& candidate : question.candidates) {
      if (candidate.label != known->second) continue;
      ++remembered_;
      return candidate;
    }
  }
  const Candidate& best = question.candidates[question.candidates.size() == 1 ? 0 : fastest(question)];
  known_[question.key] = learned_[question.key] = best.label;
  return best;
}

std::vector<BoundPrimitive> AlgorithmChooser::bind_for_timing(const Question& question, const Candidate& candidate) {
  std::vector<BoundPrimitive::Argument> arguments;
  std::size_t bytes = 0;
  for (const int kind : question.arguments) {
    const auto layout = layout_of(candidate.primitive, kind);
    if (layout.get_size() == 0) continue;
    arguments.push_back({kind, layout, nullptr});
    bytes += rounded(layout.get_size());
  }
  const std::size_t canonical = rounded(question.canonical.get_size());
  if (workspace_.bytes() < bytes + canonical) {
    workspace_ = Arena();  // never two at once
    workspace_ = Arena(bytes + canonical);
    std::memset(workspace_.data(), 0, workspace_.bytes());
  }
  std::byte* place = workspace_.data() + canonical;
  void* weights = nullptr;
  for (auto& argument : arguments) {
    argument.data = place;
    place += rounded(argument.layout.get_size());
    if (argument.kind == question.weights) weights = argument.data;
  }
  std::vector<BoundPrimitive> bound;
  const auto layout = layout_of(candidate.primitive, question.weights);
  if (weights != nullptr && layout != question.canonical) {
    const dnnl::reorder::primitive_desc reorder(device_.engine(), question.canonical, device_.engine(), layout);
    bound.emplace_back(
        device_, dnnl::reorder(reorder),
        std::vector<BoundPrimitive::Argument>{{DNNL_ARG_FROM, question.canonical, workspace_.data()}, {DNNL_ARG_TO, layout, weights}});
  }
  bound.emplace_back(device_, dnnl::primitive(candidate.primitive.get()), arguments);
  return bound;
}

std::size_t AlgorithmChooser::fastest(const Question& question) {
  ++timed_;
  const std::size_t count = question.candidates.size();
  std::vector<double> best(count, std::numeric_limits<double>::infinity());
  std::vector<std::vector<BoundPrimitive>> bound(count);
  // Binding first: the workspace may move while it grows.
  for (const Candidate& candidate : question.candidates) bind_for_timing(question, candidate);
  for (std::size_t i = 0; i < count; ++i) bound[i] = bind_for_timing(question, question.candidates[i]);
  for (const auto& primitives : bound) seconds_of(primitives);  // warm up
  for (int round = 0; round < kRounds; ++round) {
    const double leader = *std::min_element(best.begin(), best.end());
    for (std::size_t i = 0; i < count; ++i) {
      if (round == 0 || best[i] < kHopeless * leader) best[i] = std::min(best[i], seconds_of(bound[i]));
    }
  }
  return static_cast<std::size_t>(std::min_element(best.begin(), best.end()) - best.begin());
}

void AlgorithmChooser::save() const {
  if (cache_file_.empty() || learned_.empty()) return;
  try {
    Json file = load(cache_file_);
    for (const auto& [key, label] : learned_) file[cpu_][key] = label;
    write_file_atomically(cache_file_, file.dump(1) + "\n");
  } catch (const std::exception&) {  // a read-only home directory costs the choices of the next start, nothing else
  }
}

}  // namespace trireme::engine
