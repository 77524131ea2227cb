// SPDX-License-Identifier: Apache-2.0
// Spectra in FITS files: what is read, resampled and binned, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/formats/fits_file.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kRange = "width = 4\nlambda_min = 3.5\nlambda_max = 3.9\nbins = 4\n";

class FitsTest : public testing::Test {
 protected:
  // Five pixels from 3.5 to 3.9.
  void write(const std::string& name, const std::vector<float>& flux, float redshift,
             const std::vector<float>& ivar = {1, 1, 1, 1, 1}) const {
    write_fits(root_ / name, {{{"FLUX", flux}, {"loglam", {3.5F, 3.6F, 3.7F, 3.8F, 3.9F}}, {"ivar", ivar}}, {{"Z", {redshift}}}});
  }
  std::unique_ptr<Source> open(std::string_view options = "", std::vector<fs::path> files = {}) const {
    if (files.empty()) files = {root_};
    return open_with("fits", std::move(files), fmt::format("{}{}", kRange, options));
  }
  std::string refusal(std::string_view options = "") const {
    return thrown_error([&] { open(options); });
  }
  static std::vector<float> values(const Source& source, std::int64_t index) {
    std::vector<float> values(static_cast<std::size_t>(source.format().shape.count()));
    source.read(index, std::as_writable_bytes(std::span(values)));
    for (float& value : values) value = std::round(value * 1000) / 1000;
    return values;
  }

  ScratchFolder folder_;
  fs::path root_ = folder_.path();
};

TEST_F(FitsTest, AFileIsASpectrumWithARedshift) {
  write("b.fits", {0, 2, 4, 6, 8}, 0.3F);
  write("a.fits", {8, 6, 4, 2, 0}, 0.9F);
  const auto source = open();
  EXPECT_EQ(source->format().shape, (Shape{1, 4}));
  EXPECT_EQ(source->format().element, Element::f32);
  EXPECT_EQ(source->format().class_names[1], "0.25 to 0.5");
  EXPECT_THAT((std::vector{source->sample_name(0), source->sample_name(1)}), ElementsAre("a.fits", "b.fits"));
  EXPECT_THAT((std::vector{source->label(0), source->label(1)}), ElementsAre(3, 1));
  EXPECT_THAT(values(*source, 1), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(source->file_starts(), ElementsAre(0, 1));
}

TEST_F(FitsTest, BadPixelsAreZero) {
  write("a.fits", {4, std::numeric_limits<float>::quiet_NaN(), 4, 4, 4}, 0.1F, {1, 1, 1, 0, 1});
  EXPECT_THAT(values(*open(), 0), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(values(*open("mask = ''"), 0), ElementsAre(2, 2, 4, 4));
}

TEST_F(FitsTest, ARedshiftOutsideIsAnErrorUnlessClamped) {
  write("far.fits", {1, 1, 1, 1, 1}, 3.5F);
  EXPECT_THAT(refusal(), testing::AllOf(HasSubstr("far.fits: redshift 3.5 is outside"), HasSubstr("clamp")));
  EXPECT_EQ(open("clamp = true")->label(0), 3);
}

TEST_F(FitsTest, WithoutBinsTheRedshiftIsTheTarget) {
  write("far.fits", {1, 1, 1, 1, 1}, 3.5F);
  const auto source = open_with("fits", {root_}, "bins = 0");
  EXPECT_EQ(source->format().classes, 0);
  EXPECT_THAT(source->target(0), ElementsAre(3.5F));
}

// cfitsio would run a command, fetch an address or filter rows, if it were given such names.
TEST_F(FitsTest, AFileNameIsOnlyAName) {
  write("x.fits[1][col flux=0].fits", {2, 2, 2, 2, 2}, 0.1F);
  write("!x.fits", {3, 3, 3, 3, 3}, 0.1F);
  EXPECT_THAT(values(*open(), 1), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(values(*open(), 0), ElementsAre(3, 3, 3, 3));
}

TEST_F(FitsTest, EveryTruncationIsRefused) {
  write("a.fits", {1, 2, 3, 4, 5}, 0.1F);
  const std::string good = read_file(root_ / "a.fits");
  for (std::size_t size = 0; size < good.size(); size += size % 720 == 0 ? 1 : 719) {
    write_file_atomically(root_ / "a.fits", good.substr(0, size));
    EXPECT_THAT(refusal(), testing::AllOf(testing::StartsWith("data_loss"), HasSubstr("a.fits"))) << size;
  }
}

TEST_F(FitsTest, APromiseOfManyRowsIsRefused) {
  write("a.fits", {1, 2, 3, 4, 5}, 0.1F);
  std::string bytes = read_file(root_ / "a.fits");
  const std::size_t card = bytes.find("NAXIS2  =                    5");
  ASSERT_NE(card, std::string::npos);
  std::memcpy(&bytes[card], "NAXIS2  =         999999999999", 30);
  write_file_atomically(root_ / "a.fits", bytes);
  EXPECT_THAT(refusal(), testing::AllOf(testing::StartsWith("data_loss"),
                                        HasSubstr("a.fits: the header at byte 2880 promises more data than the 8640 bytes")));
}

// cfitsio takes memory for what these say, so they must not reach it.
TEST_F(FitsTest, StrangeHeadersAreRefused) {
  write("a.fits", {1, 2, 3, 4, 5}, 0.1F);
  const std::string good = read_file(root_ / "a.fits");
  for (const auto& [before, after] :
       std::vector<std::pair<std::string, std::string>>{{"NAXIS   =                    2", "NAXIS   =                  999"},
                                                        {"BITPIX  =                    8 / 8", "BITPIX  =                    7 / 8"},
                                                        {"TFIELDS =                    3", "TFIELDS =            999999999"},
                                                        {"GCOUNT  =                    1", "GCOUNT  =  9223372036854775807"},
                                                        {"PCOUNT  =                    0", "PCOUNT  =  9223372036854775807"},
                                                        {"NAXIS1  =                   12", "NAXIS1  = 99999999999999999999"},
                                                        {"XTENSION= 'BINTABLE'", "XTENSION= 'IMAGE   '"}}) {
    std::string bytes = good;
    const std::size_t card = bytes.find(before);
    ASSERT_NE(card, std::string::npos) << before;
    write_file_atomically(root_ / "a.fits", bytes.replace(card, before.size(), after));
    EXPECT_THAT(refusal(), testing::AllOf(testing::StartsWith("data_loss"), HasSubstr("a.fits"))) << after;
  }
}

TEST_F(FitsTest, WhatIsMissingIsNamed) {
  EXPECT_THAT(refusal(), HasSubstr("the folder has no .fits file"));
  write("a.fits", {1, 2, 3, 4, 5}, 0.1F);
  EXPECT_THAT(refusal("column = 'light'"), HasSubstr("column 'light' of unit 1 cannot be read"));
  EXPECT_THAT(refusal("target = 'redshift'"), HasSubstr("column 'redshift' of unit 2"));
  EXPECT_THAT(refusal("min = 2"), HasSubstr("min is 2, max 1"));
  write_fits(root_ / "a.fits", {{{"flux", {1, 2}}, {"loglam", {3.6F, 3.5F}}, {"ivar", {1, 1}}}, {{"Z", {0}}}});
  EXPECT_THAT(refusal(), HasSubstr("'loglam' must ascend, but row 1 has 3.5"));
  write_fits(root_ / "a.fits", {{{"flux", {1, 2}}, {"loglam", {5.5F, 5.6F}}, {"ivar", {1, 1}}}, {{"Z", {0}}}});
  EXPECT_THAT(refusal(), HasSubstr("lie outside lambda_min 3.5 and lambda_max 3.9"));
}

TEST_F(FitsTest, OtherFilesOfAFolderArePassedOver) {
  write("a.fits", {1, 2, 3, 4, 5}, 0.1F);
  write_file_atomically(root_ / "readme.txt", "spectra");
  const auto source = open();
  EXPECT_EQ(source->size(), 1);
  ASSERT_EQ(source->warnings().size(), 1U);
  EXPECT_THAT(source->warnings()[0], HasSubstr("passed over 1"));
}

}  // namespace
}  // namespace trireme::data
