// SPDX-License-Identifier: Apache-2.0
// A long series of rows in bounded memory: when it is full, neighbours become one row with their means.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

inline constexpr std::size_t kMaxPoints = 600;

class Bins {
 public:
  // The first name is of the key: it only grows, and says where rows are cut off.
  explicit Bins(std::vector<std::string> names, std::size_t most = kMaxPoints);

  void add(std::span<const double> row);  // as long as the names; what is NaN is left out of the means
  // Rows whose key is above this one are forgotten. A bin that has both kinds goes as a whole: better a gap than a mixture.
  void cut_after(double key);
  void clear();

  // The first and the last row stand as they are. A column without any number is left out if it is one of `optional`.
  Series series(std::span<const std::string_view> optional = {}) const;

 private:
  struct Bin {
    std::vector<double> sums;
    std::vector<std::int64_t> counts;
    std::int64_t rows = 0;
    double last_key = 0;
  };
  void merge_neighbours();
  std::vector<double> means(const Bin& bin) const;

  std::vector<std::string> names_;
  std::size_t most_;
  std::int64_t rows_in_bin_ = 1;
  std::vector<Bin> bins_;
  std::vector<double> first_;
  std::vector<double> last_;
};

}  // namespace trireme::report
