// SPDX-License-Identifier: Apache-2.0
// Single image files as samples, brought to the size and colours a model takes.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "trireme/data/formats/image_fit.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

// `shape` is channels x height x width with 1 or 3 channels; crop and orientation are those of `fit`. The label of each is 0, for it is
// unknown.
std::unique_ptr<Source> image_files(const std::vector<std::filesystem::path>& files, const Shape& shape, ImageFit fit);

}  // namespace trireme::data
