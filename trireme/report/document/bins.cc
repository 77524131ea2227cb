// SPDX-License-Identifier: Apache-2.0
// Rows into bins, bins into wider bins.
#include "trireme/report/document/bins.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"

namespace trireme::report {

Bins::Bins(std::vector<std::string> names, std::size_t most) : names_(std::move(names)), most_(most) {
  ensure(!names_.empty() && most_ >= 6, "a series has columns and some points");
}

void Bins::add(std::span<const double> row) {
  ensure(row.size() == names_.size(), "a value for every column");
  if (bins_.empty() || bins_.back().rows >= rows_in_bin_) {
    if (bins_.size() + 2 >= most_) merge_neighbours();
    bins_.push_back({.sums = std::vector<double>(row.size()), .counts = std::vector<std::int64_t>(row.size())});
  }
  Bin& bin = bins_.back();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!std::isfinite(row[i])) continue;
    bin.sums[i] += row[i];
    ++bin.counts[i];
  }
  ++bin.rows;
  bin.last_key = row.front();
  if (first_.empty()) first_.assign(row.begin(), row.end());
  last_.assign(row.begin(), row.end());
}

void Bins::cut_after(double key) {
  while (!bins_.empty() && bins_.back().last_key > key) bins_.pop_back();
  if (bins_.empty()) return clear();
  last_.clear();  // which row was the last of the bin that is left is not known any more
}

void Bins::clear() {
  bins_.clear();
  first_.clear();
  last_.clear();
  rows_in_bin_ = 1;
}

void Bins::merge_neighbours() {
  std::vector<Bin> merged;
  for (std::size_t i = 0; i < bins_.size(); i += 2) {
    merged.push_back(std::move(bins_[i]));
    if (i + 1 == bins_.size()) break;
    const Bin& other = bins_[i + 1];
    Bin& bin = merged.back();
    for (std::size_t c = 0; c < names_.size(); ++c) {
      bin.sums[c] += other.sums[c];
      bin.counts[c] += other.counts[c];
    }
    bin.rows += other.rows;
    bin.last_key = other.last_key;
  }
  bins_ = std::move(merged);
  rows_in_bin_ *= 2;
}

std::vector<double> Bins::means(const Bin& bin) const {
  std::vector<double> row(names_.size(), kUnknown);
  for (std::size_t i = 0; i < row.size(); ++i)
    if (bin.counts[i] > 0) row[i] = bin.sums[i] / static_cast<double>(bin.counts[i]);
  return row;
}

Series Bins::series(std::span<const std::string_view> optional) const {
  std::vector<std::vector<double>> rows;
  if (!bins_.empty() && bins_.front().rows > 1 && !first_.empty()) rows.push_back(first_);
  for (const Bin& bin : bins_) rows.push_back(means(bin));
  if (!bins_.empty() && bins_.back().rows > 1 && !last_.empty()) rows.push_back(last_);
  Series series;
  for (std::size_t c = 0; c < names_.size(); ++c) {
    std::vector<double> column;
    column.reserve(rows.size());
    for (const auto& row : rows) column.push_back(row[c]);
    const bool is_known = std::ranges::any_of(column, [](double value) { return std::isfinite(value); });
    if (is_known || std::ranges::find(optional, names_[c]) == optional.end()) series.columns.emplace_back(names_[c], std::move(column));
  }
  return series;
}

}  // namespace trireme::report
