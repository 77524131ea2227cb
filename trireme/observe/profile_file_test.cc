// SPDX-License-Identifier: Apache-2.0
// Profiles of today keep nanoseconds, those of older programs are read as well, and damage is passed over.
#include "trireme/observe/profile_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <vector>

namespace trireme::observe {
namespace {

std::vector<ProfileSpan> spans_of(const std::string& text) {
  const auto file = std::filesystem::path(testing::TempDir()) / ("profile_file_test_" + std::to_string(::getpid()));
  std::ofstream(file) << text;
  std::vector<ProfileSpan> spans;
  read_profile(file, {.span = [&](const ProfileSpan& span) { spans.push_back(span); }});
  std::filesystem::remove(file);
  return spans;
}

TEST(ProfileFile, KeepsNanoseconds) {
  const auto spans = spans_of(R"({"type":"span","name":"a","begin_ns":1795036215842088123,"end_ns":1795036215842088124})");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].begin.count(), 1795036215842088123);
  EXPECT_EQ(spans[0].end.count(), 1795036215842088124);
}

TEST(ProfileFile, OfAnOlderProgramIsInSeconds) {
  const auto spans =
      spans_of("{\"type\":\"span\",\"begin\":1000000000.5,\"seconds\":0.25}\n{\"type\":\"span\",\"begin\":1e300,\"seconds\":-1}\n");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].begin.count(), 1'000'000'000'500'000'000);
  EXPECT_EQ((spans[0].end - spans[0].begin).count(), 250'000'000);
  EXPECT_EQ(spans[1].begin.count(), 0);
  EXPECT_EQ(spans[1].end, spans[1].begin);
}

}  // namespace
}  // namespace trireme::observe
