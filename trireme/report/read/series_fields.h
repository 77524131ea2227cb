// SPDX-License-Identifier: Apache-2.0
// Which fields of records the report shows as curves over time, as their descriptions say.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "trireme/observe/records/machine_sample.h"
#include "trireme/observe/records/step_record.h"

namespace trireme::report {

struct SeriesField {
  std::string_view name;    // in the record
  std::string_view series;  // in the report
  observe::Combine combine = observe::Combine::none;
  bool is_rate = false;      // shown per second
  bool is_optional = false;  // not every machine measures it
};

template <class R>
std::vector<SeriesField> series_fields() {
  std::vector<SeriesField> found;
  const R record;
  describe(record, [&](const observe::Field& field, const auto& value) {
    constexpr bool kIsOptional = std::is_same_v<std::remove_cvref_t<decltype(value)>, std::optional<double>>;
    if (field.series.empty()) return;
    found.push_back(
        {.name = field.name, .series = field.series, .combine = field.combine, .is_rate = field.is_rate, .is_optional = kIsOptional});
  });
  return found;
}

inline const std::vector<SeriesField>& step_series_fields() {
  static const std::vector<SeriesField> kFields = series_fields<observe::StepRecord>();
  return kFields;
}

inline const std::vector<SeriesField>& machine_series_fields() {
  static const std::vector<SeriesField> kFields = series_fields<observe::MachineSample>();
  return kFields;
}

}  // namespace trireme::report
