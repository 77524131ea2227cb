// SPDX-License-Identifier: Apache-2.0
// For tests: how well the nearest class mean distinguishes classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace trireme::data {

using LabelledSample = std::pair<std::vector<float>, std::int32_t>;

// The share of samples train to train + test - 1 whose nearest mean of samples 0 to train - 1 is that of their class.
inline double nearest_centroid_accuracy(const std::function<LabelledSample(std::int64_t)>& sample, std::int64_t classes, std::int64_t train,
                                        std::int64_t test) {
  const std::size_t extent = sample(0).first.size();
  std::vector<std::vector<double>> means(static_cast<std::size_t>(classes), std::vector<double>(extent));
  std::vector<double> counts(static_cast<std::size_t>(classes), 1e-9);
  for (std::int64_t i = 0; i < train; ++i) {
    const auto [values, label] = sample(i);
    for (std::size_t k = 0; k < extent; ++k) means[static_cast<std::size_t>(label)][k] += values[k];
    ++counts[static_cast<std::size_t>(label)];
  }
  std::int64_t correct = 0;
  for (std::int64_t i = train; i < train + test; ++i) {
    const auto [values, label] = sample(i);
    std::vector<double> distances(means.size());
    for (std::size_t c = 0; c < means.size(); ++c)
      for (std::size_t k = 0; k < extent; ++k) {
        const double difference = values[k] - means[c][k] / counts[c];
        distances[c] += difference * difference;
      }
    correct += std::min_element(distances.begin(), distances.end()) - distances.begin() == label ? 1 : 0;
  }
  return static_cast<double>(correct) / static_cast<double>(test);
}

}  // namespace trireme::data
