// SPDX-License-Identifier: Apache-2.0
// The manifest of a checkpoint: everything but the tensors, as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/pipeline/transform.h"
#include "trireme/train/checkpoint/checkpoint.h"

namespace trireme::train {

struct Manifest {
  Cursor cursor;
  std::int64_t generation = 0;
  std::string model;  // hash over names and shapes of all slices
  std::vector<std::string> slot_names;
  data::Normalization normalization;
  std::vector<std::string> class_names;
  std::map<std::string, std::uintmax_t> bytes;  // of each other file
};

// Every double comes back with the same bits: finite ones as the shortest decimal that does, others as the text "0x<their bits>".
std::string manifest_text(const Manifest& manifest);

// `place` begins each message. data_loss if it is no manifest; failed_precondition if a newer Trireme wrote it.
Manifest parse_manifest(std::string_view text, const std::string& place);

}  // namespace trireme::train
