// SPDX-License-Identifier: Apache-2.0
// Where things stand in a checkpoint: names of directories and files, names and order of tensors.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/graph/graph.h"
#include "trireme/tensor/parameter_space.h"

namespace trireme::train {

inline constexpr std::string_view kManifestFile = "manifest.json";
inline constexpr std::string_view kModelFile = "model.safetensors";
inline constexpr std::string_view kOptimizerFile = "optimizer.safetensors";
inline constexpr std::string_view kBestFile = "best.safetensors";  // as the model, of the best epoch; not in every checkpoint
inline constexpr std::string_view kSumsFile = "SHA256SUMS";

std::string step_directory(std::int64_t step);                        // "step-00000123"
std::optional<std::int64_t> step_of(const std::filesystem::path& p);  // back; empty for any other name

struct StoredStep {
  std::int64_t step = 0;
  std::filesystem::path directory;
};
// The checkpoints of a store, newest first; empty if there is no such directory.
std::vector<StoredStep> stored_steps(const std::filesystem::path& store);

// A line of SHA256SUMS, as sha256sum prints and checks it.
std::string sum_line(std::string_view sha256, std::string_view file);

// A tensor of a file: `count` values of an array from `offset` on.
struct Place {
  std::string name;
  const Slice* slice = nullptr;
  std::size_t array = 0;
  std::optional<float> if_absent;  // its value where an older checkpoint lacks it
};
std::vector<Place> model_places(const graph::Graph& graph);        // array 0: parameters, 1: states
std::vector<Place> older_model_places(const graph::Graph& graph);  // without those that may be absent
std::vector<Place> optimizer_places(const graph::Graph& graph, std::span<const std::string> slot_names);  // array i: slot i

// SHA-256 over names and shapes of all slices.
std::string model_hash(const graph::Graph& graph);
std::string model_hash(std::span<const Place> model_places);

}  // namespace trireme::train
