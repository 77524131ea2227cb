// SPDX-License-Identifier: Apache-2.0
// For tests of the ledger: which samples a lease has, and how often each sample was used.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "trireme/ps/ledger.h"

namespace trireme::ps {

MATCHER_P2(Samples, begin, end, "") { return arg.begin == begin && arg.end == end; }

// Which samples were used how often.
class Uses {
 public:
  explicit Uses(std::int64_t samples) : times_(static_cast<std::size_t>(samples)) {}
  void add(data::Range samples) {
    for (std::int64_t i = samples.begin; i < samples.end; ++i) ++times_[static_cast<std::size_t>(i)];
  }
  void expect_once(std::int64_t begin) const {
    for (std::size_t i = 0; i < times_.size(); ++i) ASSERT_EQ(times_[i], static_cast<std::int64_t>(i) >= begin ? 1 : 0) << "sample " << i;
  }

 private:
  std::vector<int> times_;
};

inline data::Range range(const Lease& lease) { return {lease.begin, lease.end}; }

}  // namespace trireme::ps
