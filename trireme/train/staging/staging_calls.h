// SPDX-License-Identifier: Apache-2.0
// What both sides of staging must agree on.
#pragma once

#include <cstddef>

namespace trireme::train {

constexpr const char* kManifestMethod = "data_manifest";
constexpr const char* kFileMethod = "data_file";
constexpr std::size_t kPieceBytes = 1 << 20;

}  // namespace trireme::train
