// SPDX-License-Identifier: Apache-2.0
// Redshifts as classes: even bins between two limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::data {

struct RedshiftBins {
  std::int64_t bins = 10;
  double min = 0;
  double max = 1;

  bool contain(double redshift) const { return redshift >= min && redshift < max; }
  // Of the nearest bin, if the redshift is outside.
  std::int32_t label(double redshift) const;
  std::vector<std::string> names() const;  // "0.1 to 0.2"
};

}  // namespace trireme::data
