// SPDX-License-Identifier: Apache-2.0
// The zoo and the ops' reference kernels against the recordings: same slices, same first loss, to nearly all digits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/golden/recording.h"
#include "trireme/graph/reference.h"

namespace trireme::golden {
namespace {

double cross_entropy(const std::vector<double>& outputs, const std::vector<std::int32_t>& labels) {
  const std::size_t classes = outputs.size() / labels.size();
  double sum = 0;
  for (std::size_t sample = 0; sample < labels.size(); ++sample) {
    const double* row = outputs.data() + sample * classes;
    const double highest = *std::max_element(row, row + classes);
    double total = 0;
    for (std::size_t c = 0; c < classes; ++c) total += std::exp(row[c] - highest);
    sum += std::log(total) + highest - row[labels[sample]];
  }
  return sum / static_cast<double>(labels.size());
}

class ReferenceGolden : public testing::TestWithParam<std::string> {
 protected:
  const Recording recording_ = load_recording(GetParam());
  const graph::Graph graph_ = graph_of(recording_);
};

TEST_P(ReferenceGolden, SlicesHaveTheRecordedNamesAndOrder) {
  const auto& slices = graph_.parameters().slices();
  ASSERT_EQ(slices.size(), recording_.gradients.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_EQ(slices[i].name, recording_.gradients[i].name);
    EXPECT_EQ(slices[i].count, recording_.gradients[i].count) << slices[i].name;
  }
}

TEST_P(ReferenceGolden, FirstLoss) {
  const std::vector<float> parameters = initial_parameters(recording_, graph_);
  const std::vector<float> images = images_of(recording_, graph_);
  const std::vector<double> wide_parameters(parameters.begin(), parameters.end());
  const std::vector<double> wide_images(images.begin(), images.end());
  const std::vector<double> states(static_cast<std::size_t>(graph_.states().size()));
  const std::vector<std::uint64_t> keys = sample_keys_of(recording_, 0);
  const auto outputs = graph::run_reference(graph_, {.batch = recording_.batch_size,
                                                     .training = true,
                                                     .inputs = {wide_images},
                                                     .parameters = wide_parameters,
                                                     .states = states,
                                                     .sample_keys = keys});
  EXPECT_NEAR(cross_entropy(outputs.at(graph_.output()), labels_of(recording_)), recording_.steps[0].loss, 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Recorded, ReferenceGolden, testing::ValuesIn(recorded_names()), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace trireme::golden
