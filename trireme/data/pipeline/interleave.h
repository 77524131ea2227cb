// SPDX-License-Identifier: Apache-2.0
// The order of samples when several files are read in turn.
#pragma once

#include <cstdint>
#include <vector>

namespace trireme::data {

// TensorFlow's interleave with block length 1: one sample of each of `files` open files in turn. A file that turns out to be
// finished is passed over, and the next unopened file takes its place when its turn comes again.
std::vector<std::int64_t> interleaved_order(const std::vector<std::int64_t>& file_starts, std::int64_t samples, std::int64_t files);

}  // namespace trireme::data
