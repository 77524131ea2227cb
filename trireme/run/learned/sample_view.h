// SPDX-License-Identifier: Apache-2.0
// A sample as people look at it: a picture, a row of values, or curves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trireme/base/json.h"
#include "trireme/data/pipeline/transform.h"
#include "trireme/data/source/source.h"

namespace trireme::run {

// {"picture": "data:...", "height", "width"}, {"row": [[name, value] ...]} or {"curves": [[...] ...]}, by the sample's shape. Values of a
// picture are from 0 to 1, or, of other data, stretched to that; a picture with a longer edge than `max_edge` is made smaller.
// `names` are those of the values, if they have any.
Json view_of_values(const data::SampleFormat& format, std::span<const float> values, std::int64_t max_edge,
                    const std::vector<std::string>& names = {});

// As it is stored.
std::vector<float> stored_values(const data::Source& samples, std::int64_t index);

// Takes the normalisation off again, so that colours are those of the file. That of each sample by itself can't be taken off.
void undo(const data::Normalization& normalization, const data::SampleFormat& format, std::span<float> values);

// Of a path the file and its folder, which often is the class; others as they are.
std::string short_name(const std::string& sample_name);

}  // namespace trireme::run
