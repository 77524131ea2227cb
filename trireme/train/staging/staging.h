// SPDX-License-Identifier: Apache-2.0
// How a job's data get to a machine that doesn't have them: the coordinator offers its files, a node takes what it lacks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/coord/coordinator.h"
#include "trireme/train/staging/data_manifest.h"
#include "trireme/train/staging/file_digests.h"

namespace trireme::train {

// The coordinator's side: two methods that read the files of a manifest, by number and in pieces. Nothing else can be read.
// A file that isn't any more what the manifest says is data_loss.
std::vector<coord::Coordinator::Method> staging_methods(DataManifest manifest);

struct StagingProgress {
  std::uint64_t bytes = 0;  // fetched so far
  std::uint64_t total = 0;  // that have to be fetched
};

struct StagingOptions {
  // Calls a method of the coordinator, e.g. Membership::call with a timeout.
  std::function<std::string(const std::string& method, std::string request)> call;
  std::filesystem::path cache;  // where fetched files lie, by their checksums; nodes of one machine may share it
  std::function<void(const StagingProgress&)> progress = [](const StagingProgress&) {};
};

struct StagedData {
  std::string hash;          // of the data, for the node's JobFingerprint
  std::size_t in_place = 0;  // files that were there already
  std::size_t cached = 0;    // that an earlier job had fetched
  std::size_t fetched = 0;
};

// The node's side. Afterwards the job's [data] names files of this machine that are what the coordinator has:
// the coordinator's own (same machine, same file), others at the same path with the same checksum, or fetched ones.
// Throws what the coordinator throws; data_loss if a file arrives damaged, resource_exhausted if the disk is full.
StagedData stage_data(Config& job, const StagingOptions& options);

}  // namespace trireme::train
