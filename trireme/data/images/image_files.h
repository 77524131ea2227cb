// SPDX-License-Identifier: Apache-2.0
// Single image files as samples, brought to the size and colours a model takes.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data {

// `shape` is channels x height x width with 1 or 3 channels. Colours become grey and grey becomes colour where needed; the label of
// each is 0, for it is unknown.
std::unique_ptr<Source> image_files(const std::vector<std::filesystem::path>& files, const Shape& shape);

}  // namespace trireme::data
