// SPDX-License-Identifier: Apache-2.0
// Examples are those that a training begins with; mistakes have truth and answers beside them.
#include "trireme/run/learned/sample_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "trireme/data/pipeline/batch_stream.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::run {
namespace {

// Rows of six values each, labelled 0, 1, 2, 0, 1, 2 ...
std::shared_ptr<data::Source> table(std::int64_t size) {
  data::MemorySamples samples{
      .format = {.shape = {6}, .element = data::Element::f32, .classes = 3}, .values = {}, .labels = {}, .targets = {}};
  samples.values.resize(static_cast<std::size_t>(size) * samples.format.sample_bytes());
  for (std::int64_t i = 0; i < 6 * size; ++i) {
    const auto value = static_cast<float>(i % 251);
    std::memcpy(&samples.values[static_cast<std::size_t>(i) * sizeof value], &value, sizeof value);
  }
  for (std::int64_t i = 0; i < size; ++i) samples.labels.push_back(static_cast<std::int32_t>(i % 3));
  return std::make_shared<data::MemorySource>(std::move(samples));
}

TEST(Examples, AreTheFirstSamplesAsTheTrainingGetsThem) {
  data::DataSets sets{.train = table(50),
                      .validation = nullptr,
                      .test = nullptr,
                      .normalization = {},
                      .class_names = {"x", "y", "z"},
                      .warnings = {},
                      .skipped = {}};
  data::DataRequest request;
  request.augment.pad = 2;
  const SteadyClock clock;
  data::BatchStream stream(sets.train, data::Transform(sets.train->format(), sets.normalization, request.augment),
                           {.batch_size = 16, .seed = 9, .threads = 0, .prefetch = 0}, clock);
  const data::Batch& batch = *stream.next();

  const Json document = examples_document(sets, request, 9, 16);
  EXPECT_EQ(document["augmented"], "pad 2 and crop");
  ASSERT_EQ(document["samples"].size(), 16U);
  for (std::size_t i = 0; i < 16; ++i) {
    const Json& sample = document["samples"][i];
    EXPECT_EQ(sample["truth"]["class"], batch.labels[i]);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(sample["row"][k][1].get<float>(), batch.values[6 * i + k]) << i << ", " << k;
  }
}

TEST(Examples, AreNoMoreThanThereAre) {
  data::DataSets sets{
      .train = table(3), .validation = nullptr, .test = nullptr, .normalization = {}, .class_names = {}, .warnings = {}, .skipped = {}};
  const Json document = examples_document(sets, {}, 1, 16);
  EXPECT_EQ(document["samples"].size(), 3U);
  EXPECT_EQ(document["augmented"], "");
}

}  // namespace
}  // namespace trireme::run
