// SPDX-License-Identifier: Apache-2.0
// Keeps decoded samples after their first read, in memory or in a file that vanishes with the process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "trireme/data/source.h"

namespace trireme::data {

enum class CacheKind { none, memory, disk };

// `base` itself for CacheKind::none, or if it holds its samples in memory anyway. The file of CacheKind::disk lies in `directory`.
std::shared_ptr<const Source> cached(std::shared_ptr<const Source> base, CacheKind kind, const std::filesystem::path& directory);

}  // namespace trireme::data
