// SPDX-License-Identifier: Apache-2.0
// Which bin a redshift falls into.
#include "trireme/data/formats/redshift_bins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trireme::data {

std::int32_t RedshiftBins::label(double redshift) const {
  const auto count = static_cast<double>(bins);
  return static_cast<std::int32_t>(std::clamp(std::floor((redshift - min) / (max - min) * count), 0.0, count - 1));
}

std::vector<std::string> RedshiftBins::names() const {
  const double step = (max - min) / static_cast<double>(bins);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < bins; ++i)
    names.push_back(fmt::format("{:.4g} to {:.4g}", min + step * static_cast<double>(i), min + step * static_cast<double>(i + 1)));
  return names;
}

}  // namespace trireme::data
