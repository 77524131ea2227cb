// SPDX-License-Identifier: Apache-2.0
// A set of samples, kept as runs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trireme/data/source/division.h"

namespace trireme::ps {

class Runs {
 public:
  void add(data::Range run);                                   // of which nothing is in the set; neighbours become one
  data::Range take_first(std::int64_t most);                   // removes up to `most` samples from the beginning; not if it is empty
  std::int64_t begin() const { return ends_.begin()->first; }  // not if it is empty
  bool is_empty() const { return ends_.empty(); }
  std::int64_t size() const { return size_; }  // samples
  std::vector<data::Range> all() const;        // in order
  std::vector<data::Range> gaps(data::Range within) const;

 private:
  std::map<std::int64_t, std::int64_t> ends_;  // by beginning
  std::int64_t size_ = 0;
};

}  // namespace trireme::ps
