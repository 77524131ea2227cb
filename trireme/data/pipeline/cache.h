// SPDX-License-Identifier: Apache-2.0
// Keeps decoded samples after their first read, in memory or in a file that vanishes with the process.
#pragma once

#include <filesystem>
#include <memory>

#include "trireme/data/pipeline/memory_share.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

enum class CacheKind { none, memory, disk };

// `base` itself for CacheKind::none, or if it holds its samples in memory anyway. The file of CacheKind::disk lies in `directory`.
// Room for all samples is taken at once, so that a memory or disk too small is reported before the first step, not after an hour.
// Threads never wait for each other: two that want the same new sample both decode it, and one of them keeps it.
std::shared_ptr<const Source> cached(std::shared_ptr<const Source> base, CacheKind kind, const std::filesystem::path& directory,
                                     MemoryBudget& memory);
// With all the memory that this process may take.
std::shared_ptr<const Source> cached(std::shared_ptr<const Source> base, CacheKind kind, const std::filesystem::path& directory);

}  // namespace trireme::data
