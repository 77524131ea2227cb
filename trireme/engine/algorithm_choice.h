// SPDX-License-Identifier: Apache-2.0
// Chooses among the ways oneDNN can compute a thing by timing them, and remembers the answer in a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trireme/engine/executor.h"
#include "trireme/engine/kernels/arena.h"
#include "trireme/engine/kernels/onednn.h"

namespace trireme::engine {

// One way to compute a primitive.
struct Candidate {
  std::string label;  // "direct jit:avx512_common": found again by it
  dnnl::primitive_desc_base primitive;
};

struct Question {
  std::string key;                    // the shape, direction and number of threads
  std::vector<int> arguments;         // DNNL_ARG_... it reads and writes
  int weights = 0;                    // the argument kept in canonical layout between steps
  dnnl::memory::desc canonical;       // that layout: a reorder from it counts as part of the price
  std::vector<Candidate> candidates;  // at least one; the first is the direct way
};

class AlgorithmChooser {
 public:
  // An empty path: nothing is remembered. An unreadable file is begun anew.
  AlgorithmChooser(const Device& device, Algorithms algorithms, std::filesystem::path cache_file);

  const Candidate& choose(const Question& question);
  // Adds what was learnt to the file, beside what other processes wrote meanwhile. Failure to write is no error.
  void save() const;

  std::int64_t timed() const { return timed_; }
  std::int64_t remembered() const { return remembered_; }

 private:
  std::size_t fastest(const Question& question);
  std::vector<BoundPrimitive> bind_for_timing(const Question& question, const Candidate& candidate);

  const Device& device_;
  Algorithms algorithms_;
  std::filesystem::path cache_file_;
  std::string cpu_;
  std::map<std::string, std::string> known_;    // key -> label, from the file
  std::map<std::string, std::string> learned_;  // since
  Arena workspace_;
  std::int64_t timed_ = 0;
  std::int64_t remembered_ = 0;
};

}  // namespace trireme::engine
