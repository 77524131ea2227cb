// SPDX-License-Identifier: Apache-2.0
// Reading one checkpoint: every byte of every file is verified before a weight is used.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/tensor/safetensors.h"
#include "trireme/train/checkpoint/checkpoint.h"
#include "trireme/train/checkpoint/checkpoint_layout.h"
#include "trireme/train/checkpoint/manifest.h"

namespace trireme::train {
namespace {

constexpr std::uintmax_t kMaxManifest = 100'000'000;
constexpr std::uintmax_t kMaxSums = 4096;

std::string read_part(const std::filesystem::path& path, std::uintmax_t max_bytes) {
  try {
    return read_file(path, max_bytes);
  } catch (const Error& error) {  // a part that is missing is damage of the checkpoint
    if (error.code() != not_found) throw;
    throw Error{data_loss, "{} is missing", path.string()};
  }
}

// Compares SHA256SUMS line by line with what it must be for the files that were found.
class Sums {
 public:
  explicit Sums(const std::filesystem::path& directory)
      : path_(directory / kSumsFile), content_(read_part(path_, kMaxSums)), rest_(content_) {}

  // Returns the file's content, which then is what the next line of the sums says.
  std::string verified(std::string_view name, std::uintmax_t max_bytes) {
    const std::filesystem::path path = path_.parent_path() / name;
    std::string content = read_part(path, max_bytes);
    const std::string line = sum_line(digest_of(Digest::Kind::sha256, content), name);
    if (!rest_.starts_with(line))
      throw Error{data_loss, "{} has another checksum than {} says; one of them was altered", path.string(), path_.string()};
    rest_.remove_prefix(line.size());
    return content;
  }
  void finish() const {
    if (!rest_.empty()) throw Error{data_loss, "{} has more lines than the checkpoint has files", path_.string()};
  }

 private:
  std::filesystem::path path_;
  std::string content_;
  std::string_view rest_;
};

Safetensors verified_tensors(Sums& sums, const std::filesystem::path& directory, std::string_view name, const Manifest& manifest) {
  const std::string path = (directory / name).string();
  const auto bytes = manifest.bytes.find(std::string(name));
  if (bytes == manifest.bytes.end()) throw Error{data_loss, "{} does not know {}", (directory / kManifestFile).string(), name};
  std::string content = sums.verified(name, bytes->second);
  if (content.size() != bytes->second) throw Error{data_loss, "{} has {} bytes, the manifest says {}", path, content.size(), bytes->second};
  return {std::move(content), path};
}

std::string described(const std::string& name, const Shape& shape) { return fmt::format("'{}' ({})", name, shape.to_string()); }

// The first tensor that is not the graph's, in words; empty if there is none.
std::string difference(const std::vector<Place>& places, const std::vector<Safetensors::Tensor>& tensors) {
  for (std::size_t i = 0; i < std::max(places.size(), tensors.size()); ++i) {
    const std::string ours = i < places.size() ? described(places[i].name, places[i].slice->shape) : "no more";
    const std::string theirs = i < tensors.size() ? described(tensors[i].name, tensors[i].shape) : "no more";
    if (ours != theirs) return fmt::format("as tensor {} it has {}, the model has {}", i + 1, theirs, ours);
  }
  return {};
}

// Where the file's tensors belong. Of an older checkpoint: without the states that there were not yet.
std::vector<Place> checked_places(const std::filesystem::path& directory, const Manifest& manifest, const Safetensors& model,
                                  const graph::Graph& graph) {
  std::vector<Place> places = model_places(graph);
  const std::string found = difference(places, model.tensors());
  if (!found.empty()) {
    places = older_model_places(graph);
    if (!difference(places, model.tensors()).empty())
      throw Error{failed_precondition, "{} is a checkpoint of another model: {}; use the job file it was trained with", directory.string(),
                  found};
  }
  if (manifest.model != model_hash(places))
    throw Error{failed_precondition, "{} is a checkpoint of another model: its hash is {}, the model's is {}", directory.string(),
                manifest.model, model_hash(places)};
  return places;
}

std::span<float> values_at(const Place& place, std::span<const std::span<float>> arrays) {
  return arrays[place.array].subspan(static_cast<std::size_t>(place.slice->offset), static_cast<std::size_t>(place.slice->count));
}

void copy_all(const Safetensors& file, const std::vector<Place>& places, std::span<const std::span<float>> arrays) {
  for (std::size_t i = 0; i < places.size(); ++i) file.copy(file.tensors()[i], values_at(places[i], arrays));
}

void fill_absent(const graph::Graph& graph, std::span<const std::span<float>> arrays) {
  for (const Place& place : model_places(graph))
    if (place.if_absent) std::ranges::fill(values_at(place, arrays), *place.if_absent);
}

// Of the same tensors as the model.
std::shared_ptr<const KeptWeights> read_best(const Safetensors& file, const std::filesystem::path& path, const graph::Graph& graph,
                                             const std::vector<Place>& places) {
  const std::string found = difference(places, file.tensors());
  if (!found.empty()) throw Error{data_loss, "{} does not fit its model: {}", path.string(), found};
  auto best =
      std::make_shared<KeptWeights>(KeptWeights{.parameters = std::vector<float>(static_cast<std::size_t>(graph.parameters().size())),
                                                .states = std::vector<float>(static_cast<std::size_t>(graph.states().size()))});
  const std::vector<std::span<float>> arrays{best->parameters, best->states};
  fill_absent(graph, arrays);
  copy_all(file, places, arrays);
  return best;
}

}  // namespace

Checkpoint load_checkpoint(const std::filesystem::path& directory, const graph::Graph& graph) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory, ignored)) throw Error{not_found, "there is no checkpoint {}", directory.string()};
  Sums sums(directory);
  Manifest manifest = parse_manifest(sums.verified(kManifestFile, kMaxManifest), (directory / kManifestFile).string());
  const Safetensors model = verified_tensors(sums, directory, kModelFile, manifest);
  const Safetensors optimizer = verified_tensors(sums, directory, kOptimizerFile, manifest);
  const bool has_best = manifest.bytes.contains(std::string(kBestFile));
  const auto best_file = has_best ? std::optional(verified_tensors(sums, directory, kBestFile, manifest)) : std::nullopt;
  sums.finish();
  const std::vector<Place> model_tensors = checked_places(directory, manifest, model, graph);
  const auto optimizer_tensors = optimizer_places(graph, manifest.slot_names);
  const std::string found = difference(optimizer_tensors, optimizer.tensors());
  if (!found.empty()) throw Error{data_loss, "{} does not fit its model: {}", (directory / kOptimizerFile).string(), found};

  const auto count = static_cast<std::size_t>(graph.parameters().size());
  Checkpoint checkpoint{.cursor = manifest.cursor,
                        .generation = manifest.generation,
                        .parameters = std::vector<float>(count),
                        .states = std::vector<float>(static_cast<std::size_t>(graph.states().size())),
                        .slots = std::vector<std::vector<float>>(manifest.slot_names.size(), std::vector<float>(count)),
                        .slot_names = std::move(manifest.slot_names),
                        .normalization = std::move(manifest.normalization),
                        .class_names = std::move(manifest.class_names)};
  const std::vector<std::span<float>> arrays{checkpoint.parameters, checkpoint.states};
  fill_absent(graph, arrays);
  copy_all(model, model_tensors, arrays);
  copy_all(optimizer, optimizer_tensors, std::vector<std::span<float>>(checkpoint.slots.begin(), checkpoint.slots.end()));
  if (best_file) checkpoint.best = read_best(*best_file, directory / kBestFile, graph, model_tensors);
  return checkpoint;
}

bool use_best(Checkpoint& checkpoint) {
  if (checkpoint.best == nullptr) return false;
  checkpoint.parameters = checkpoint.best->parameters;
  checkpoint.states = checkpoint.best->states;
  return true;
}

}  // namespace trireme::train
