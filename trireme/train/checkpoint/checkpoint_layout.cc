// SPDX-License-Identifier: Apache-2.0
// Names and order of tensors in a checkpoint, and the hash that distinguishes models.
#include "trireme/train/checkpoint/checkpoint_layout.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::train {
namespace {

constexpr std::string_view kStep = "step-";

void append_places(std::vector<Place>& places, const ParameterSpace& space, const std::string& prefix, std::size_t array) {
  for (const Slice& slice : space.slices()) places.push_back({.name = prefix + slice.name, .slice = &slice, .array = array});
}

}  // namespace

std::string step_directory(std::int64_t step) { return fmt::format("{}{:08}", kStep, step); }

std::optional<std::int64_t> step_of(const std::filesystem::path& p) {
  const std::string name = p.filename().string();
  if (!name.starts_with(kStep)) return std::nullopt;
  std::int64_t step = 0;
  const auto [end, fault] = std::from_chars(name.data() + kStep.size(), name.data() + name.size(), step);
  if (fault != std::errc{} || step < 0 || name != step_directory(step)) return std::nullopt;
  return step;
}

std::vector<StoredStep> stored_steps(const std::filesystem::path& store) {
  std::vector<StoredStep> steps;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(store, error), end; !error && entry != end; entry.increment(error)) {
    if (const auto step = step_of(entry->path())) steps.push_back({.step = *step, .directory = entry->path()});
  }
  if (error && error != std::errc::no_such_file_or_directory) throw_system_error(error.value(), fmt::format("list {}", store.string()));
  std::sort(steps.begin(), steps.end(), [](const StoredStep& a, const StoredStep& b) { return a.step > b.step; });
  return steps;
}

std::string sum_line(std::string_view sha256, std::string_view file) { return fmt::format("{}  {}\n", sha256, file); }

std::string model_hash(const graph::Graph& graph) { return model_hash(model_places(graph)); }

std::string model_hash(std::span<const Place> model_places) {
  Digest digest(Digest::Kind::sha256);
  for (const Place& place : model_places)
    digest.add(fmt::format("{} {} {}\n", place.array == 0 ? "parameter" : "state", place.name, place.slice->shape.to_string()));
  return digest.hex();
}

std::vector<Place> model_places(const graph::Graph& graph) {
  std::vector<Place> places;
  append_places(places, graph.parameters(), "", 0);
  append_places(places, graph.states(), "", 1);
  for (std::size_t slice = 0, first = graph.parameters().slices().size(); first + slice < places.size(); ++slice)
    places[first + slice].if_absent = graph.state_if_absent(slice);
  return places;
}

std::vector<Place> older_model_places(const graph::Graph& graph) {
  std::vector<Place> places = model_places(graph);
  std::erase_if(places, [](const Place& place) { return place.if_absent.has_value(); });
  return places;
}

std::vector<Place> optimizer_places(const graph::Graph& graph, std::span<const std::string> slot_names) {
  std::vector<Place> places;
  for (std::size_t slot = 0; slot < slot_names.size(); ++slot) append_places(places, graph.parameters(), slot_names[slot] + "/", slot);
  return places;
}

}  // namespace trireme::train
