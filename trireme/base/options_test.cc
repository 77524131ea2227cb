// SPDX-License-Identifier: Apache-2.0
// Tests of described options: reading, limits, suggestions, listing.
#include "trireme/base/options.h"

#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"

namespace trireme {
namespace {

struct Sample {
  std::int64_t batch_size = 128;
  double rate = 0.5;
  bool bias = true;
  std::string padding = "valid";
  std::vector<double> steps{1, 2};
};

void describe(Sample& o, OptionVisitor& visit) {
  visit("batch_size", o.batch_size, "samples a step", 1, 1000);
  visit("rate", o.rate, "share", 0, 1);
  visit("bias", o.bias, "add a bias");
  visit("padding", o.padding, "border", {"valid", "same"});
  visit("steps", o.steps, "where it changes");
}

Sample read(std::string_view toml) { return read_options<Sample>(Config::parse_toml(toml, "job.toml"), "sample"); }
std::string failure(std::string_view toml) {
  return thrown_error([&] { read(toml); });
}

TEST(Options, DefaultsStayWhereNothingIsGiven) {
  const Sample sample = read("rate = 1");
  EXPECT_EQ(sample.batch_size, 128);
  EXPECT_EQ(sample.rate, 1.0);
  EXPECT_TRUE(sample.bias);
}

TEST(Options, ReadsEveryType) {
  const Sample sample = read("batch_size = 7\nbias = false\npadding = 'same'\nsteps = [3, 4.5]");
  EXPECT_EQ(sample.batch_size, 7);
  EXPECT_FALSE(sample.bias);
  EXPECT_EQ(sample.padding, "same");
  EXPECT_EQ(sample.steps, (std::vector<double>{3, 4.5}));
}

TEST(Options, UnknownKeyNamesPlaceAndNearest) {
  EXPECT_EQ(failure("rate = 0\nbatchsize = 3"),
            "invalid_argument: job.toml:2: sample has no option 'batchsize'; did you mean 'batch_size'?");
  EXPECT_EQ(failure("colour = 3"),
            "invalid_argument: job.toml:1: sample has no option 'colour'; it has: batch_size, rate, bias, padding, steps");
}

TEST(Options, LimitsAreStatedInTheMessage) {
  EXPECT_EQ(failure("batch_size = 0"), "invalid_argument: job.toml:1: sample: batch_size = 0, must be 1 to 1000");
  EXPECT_EQ(failure("rate = nan"), "invalid_argument: job.toml:1: sample: rate = nan, must be 0 to 1");
  EXPECT_EQ(failure("padding = 'full'"), "invalid_argument: job.toml:1: sample: padding = \"full\", must be one of valid, same");
  EXPECT_EQ(failure("\nbias = 1"), "invalid_argument: job.toml:2: expected true or false, found the number 1");
}

TEST(Options, ReservedKeysArePassedOver) {
  const Config table = Config::parse_toml("op = 'x'\nrate = 0.25", "job.toml");
  EXPECT_EQ(read_options<Sample>(table, "sample", {"op"}).rate, 0.25);
}

TEST(Options, ListsNameDefaultLimitsAndHelp) {
  const std::vector<OptionRow> rows = list_options<Sample>();
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].name, "batch_size");
  EXPECT_EQ(rows[0].value, "128");
  EXPECT_EQ(rows[0].limits, "1 to 1000");
  EXPECT_EQ(rows[0].help, "samples a step");
  EXPECT_EQ(rows[3].limits, "valid | same");
  EXPECT_EQ(rows[4].value, "[1, 2]");
}

TEST(Nearest, FindsSlipsAndNothingElse) {
  EXPECT_EQ(nearest("conv3d", {"conv1d", "dense", "conv2d"}), "conv1d");
  EXPECT_EQ(nearest("resnett", {"densenet", "resnet"}), "resnet");
  EXPECT_EQ(nearest("banana", {"conv1d", "dense"}), "");
  EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace trireme
