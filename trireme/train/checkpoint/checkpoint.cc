// SPDX-License-Identifier: Apache-2.0
// Checkpoints are written beside their place and renamed into it; every directory named step-... is complete.
#include "trireme/train/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <span>
#include <system_error>
#include <utility>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/base/files.h"
#include "trireme/base/finite.h"
#include "trireme/tensor/safetensors.h"
#include "trireme/train/checkpoint/checkpoint_layout.h"
#include "trireme/train/checkpoint/manifest.h"

namespace trireme::train {
namespace {

constexpr std::string_view kTemporary = ".tmp-";  // followed by the writer's process id and what it is

void remove_quietly(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// A directory that is gone at the end of the block unless it was renamed.
class TemporaryDirectory {
 public:
  TemporaryDirectory(const std::filesystem::path& parent, const std::string& name)
      : path_(parent / fmt::format("{}{}-{}", kTemporary, ::getpid(), name)) {
    make_directories(path_);
  }
  ~TemporaryDirectory() { remove_quietly(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

bool left_by_the_dead(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kTemporary)) return false;
  pid_t writer = 0;
  const auto [end, fault] = std::from_chars(name.data() + kTemporary.size(), name.data() + name.size(), writer);
  if (fault != std::errc{} || writer <= 0) return false;
  return writer == ::getpid() || (::kill(writer, 0) != 0 && errno == ESRCH);
}

void remove_leftovers(const std::filesystem::path& store) {
  std::vector<std::filesystem::path> leftovers;
  std::error_code ignored;  // a directory that can't be listed can't be written into either, and that is reported
  for (std::filesystem::directory_iterator entry(store, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    if (left_by_the_dead(entry->path())) leftovers.push_back(entry->path());
  }
  for (const auto& leftover : leftovers) remove_quietly(leftover);
}

std::vector<TensorToWrite> tensors_at(const std::vector<Place>& places, std::span<const std::span<const float>> arrays) {
  std::vector<TensorToWrite> tensors;
  for (const Place& place : places) {
    const auto values =
        arrays[place.array].subspan(static_cast<std::size_t>(place.slice->offset), static_cast<std::size_t>(place.slice->count));
    tensors.push_back({.name = place.name, .shape = place.slice->shape, .values = values});
  }
  return tensors;
}

void check_sizes(const Checkpoint& checkpoint, const graph::Graph& graph) {
  const auto count = static_cast<std::size_t>(graph.parameters().size());
  ensure(checkpoint.cursor.step >= 0, "a checkpoint's step is not negative");
  ensure(checkpoint.parameters.size() == count, "a checkpoint has the graph's parameters");
  ensure(checkpoint.states.size() == static_cast<std::size_t>(graph.states().size()), "a checkpoint has the graph's states");
  ensure(checkpoint.slots.size() == checkpoint.slot_names.size(), "every slot of a checkpoint has a name");
  for (const auto& slot : checkpoint.slots) ensure(slot.size() == count, "a slot is as long as the parameters");
  if (checkpoint.best == nullptr) return;
  ensure(checkpoint.best->parameters.size() == count, "the best weights have the graph's parameters");
  ensure(checkpoint.best->states.size() == checkpoint.states.size(), "the best weights have the graph's states");
}

std::int64_t bytes_of(const Checkpoint& checkpoint) {
  const std::size_t model = checkpoint.parameters.size() + checkpoint.states.size();
  const std::size_t values = model * (checkpoint.best == nullptr ? 1 : 2) + checkpoint.parameters.size() * checkpoint.slots.size();
  return static_cast<std::int64_t>(values * sizeof(float));
}

// With good hashes it would look good to every run that resumes.
void check_finite(const Checkpoint& checkpoint, const std::vector<TensorToWrite>& tensors) {
  for (const TensorToWrite& tensor : tensors)
    if (!are_finite(tensor.values))
      throw Error{out_of_range,
                  "step {}: {} of rank {} is not finite everywhere, so the checkpoint is not kept; those before it are as they were; lower "
                  "train.optimizer.learning_rate and resume from the last one",
                  checkpoint.cursor.step, tensor.name, checkpoint.rank};
}

void write_synced(const std::filesystem::path& path, std::string_view content) {
  OutputFile file(path, OutputFile::Mode::create);
  file.write(content);
  file.sync();
}

// A file of a checkpoint, and what manifest and sums say of it.
struct Part {
  std::string_view name;
  WrittenFile file;
};

std::vector<Part> write_tensors(const std::filesystem::path& directory, const Checkpoint& checkpoint, const graph::Graph& graph) {
  const std::vector<std::span<const float>> model = {checkpoint.parameters, checkpoint.states};
  const std::vector<std::span<const float>> slots(checkpoint.slots.begin(), checkpoint.slots.end());
  const std::vector<TensorToWrite> model_tensors = tensors_at(model_places(graph), model);
  const std::vector<TensorToWrite> optimizer_tensors = tensors_at(optimizer_places(graph, checkpoint.slot_names), slots);
  check_finite(checkpoint, model_tensors);
  check_finite(checkpoint, optimizer_tensors);
  std::vector<Part> parts;
  parts.push_back({kModelFile, write_safetensors(directory / kModelFile, model_tensors)});
  parts.push_back({kOptimizerFile, write_safetensors(directory / kOptimizerFile, optimizer_tensors)});
  if (checkpoint.best == nullptr) return parts;
  const std::vector<std::span<const float>> best = {checkpoint.best->parameters, checkpoint.best->states};
  const std::vector<TensorToWrite> best_tensors = tensors_at(model_places(graph), best);
  check_finite(checkpoint, best_tensors);
  parts.push_back({kBestFile, write_safetensors(directory / kBestFile, best_tensors)});
  return parts;
}

void write_files(const std::filesystem::path& directory, const Checkpoint& checkpoint, const graph::Graph& graph) {
  const std::vector<Part> parts = write_tensors(directory, checkpoint, graph);
  failpoint("ckpt.after_tmp_write");
  Manifest manifest{.cursor = checkpoint.cursor,
                    .generation = checkpoint.generation,
                    .model = model_hash(graph),
                    .slot_names = checkpoint.slot_names,
                    .normalization = checkpoint.normalization,
                    .class_names = checkpoint.class_names};
  for (const Part& part : parts) manifest.bytes.emplace(part.name, part.file.bytes);
  const std::string text = manifest_text(manifest);
  write_synced(directory / kManifestFile, text);
  std::string sums = sum_line(digest_of(Digest::Kind::sha256, text), kManifestFile);
  for (const Part& part : parts) sums += sum_line(part.file.sha256, part.name);
  write_synced(directory / kSumsFile, sums);
  sync_directory(directory);
  failpoint("ckpt.after_fsync");
}

// A checkpoint of the same step, from before a resumption, changes places with the new one: there is no moment without either.
void publish(const std::filesystem::path& written, const std::filesystem::path& place) {
  if (::renameat2(AT_FDCWD, written.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno == EINVAL || errno == ENOSYS) remove_quietly(place);  // a file system without exchange
  if (std::rename(written.c_str(), place.c_str()) != 0)
    throw_system_error(errno, fmt::format("rename {} to {}", written.string(), place.string()));
}

// Keeps `step` and the one before it. Later ones are of a past that a resumption from an earlier step has replaced.
void remove_superseded(const std::filesystem::path& store, std::int64_t step) {
  bool previous_kept = false;
  for (const StoredStep& stored : stored_steps(store)) {
    if (stored.step == step) continue;
    if (stored.step < step && !std::exchange(previous_kept, true)) continue;
    // Renamed first, so that no crash leaves half of it under its name.
    const auto aside = store / fmt::format("{}{}-old-{}", kTemporary, ::getpid(), stored.directory.filename().string());
    if (std::rename(stored.directory.c_str(), aside.c_str()) == 0) remove_quietly(aside);
  }
}

void make_store(const std::filesystem::path& store) {
  std::error_code ignored;
  if (std::filesystem::is_directory(store, ignored)) return;
  make_directories(store);
  sync_directory(std::filesystem::absolute(store).parent_path());
}

bool is_damage(ErrorCode code) { return code == data_loss || code == not_found || code == unavailable; }

}  // namespace

CheckpointStore::CheckpointStore(std::filesystem::path directory, const graph::Graph& graph, WatchWrite watch)
    : directory_(std::move(directory)), graph_(graph), watch_(std::move(watch)) {}

std::filesystem::path CheckpointStore::save(const Checkpoint& checkpoint) const {
  check_sizes(checkpoint, graph_);
  const std::shared_ptr<void> watched = watch_ ? watch_(bytes_of(checkpoint)) : nullptr;
  make_store(directory_);
  remove_leftovers(directory_);
  const std::string name = step_directory(checkpoint.cursor.step);
  const TemporaryDirectory temporary(directory_, name);
  write_files(temporary.path(), checkpoint, graph_);
  failpoint("ckpt.before_rename");
  publish(temporary.path(), directory_ / name);
  failpoint("ckpt.after_rename_before_dirsync");
  sync_directory(directory_);
  remove_superseded(directory_, checkpoint.cursor.step);
  return directory_ / name;
}

std::optional<CheckpointStore::Loaded> CheckpointStore::load_newest() const {
  const std::vector<StoredStep> steps = stored_steps(directory_);
  if (steps.empty()) return std::nullopt;
  std::vector<std::string> warnings;
  std::string faults;
  for (const StoredStep& stored : steps) {
    try {
      return Loaded{.checkpoint = load_checkpoint(stored.directory, graph_), .directory = stored.directory, .warnings = warnings};
    } catch (const Error& error) {  // the one before it may be good
      if (!is_damage(error.code())) throw;
      warnings.push_back(fmt::format("checkpoint {} is damaged and was passed over: {}", stored.directory.string(), error.what()));
      faults += fmt::format("\n  {}", error.what());
    }
  }
  throw Error{data_loss, "none of the checkpoints in {} is good; start again without --resume, or restore one from a copy:{}",
              directory_.string(), faults};
}

}  // namespace trireme::train
