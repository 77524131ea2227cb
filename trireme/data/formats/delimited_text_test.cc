// SPDX-License-Identifier: Apache-2.0
// Tests of separated text: quotes, separators, line ends, faults with their place.
#include "trireme/data/formats/delimited_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;

std::vector<std::vector<std::string>> rows_of(std::string_view content, char separator = ',') {
  DelimitedText text(content, "t", separator);
  std::vector<std::vector<std::string>> rows;
  for (std::vector<std::string_view> fields; text.next_row(fields);) rows.emplace_back(fields.begin(), fields.end());
  return rows;
}

TEST(DelimitedText, EmptyLinesAndCommentsArePassedOver) {
  EXPECT_THAT(rows_of("a\n\n \r\n# c\nb"), ElementsAre(ElementsAre("a"), ElementsAre("b")));
}

TEST(DelimitedText, SplitsLinesOfEveryKind) {
  EXPECT_THAT(rows_of("a,b\n1,2\n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
  EXPECT_THAT(rows_of("a,b\r\n1,2\r\n\r\n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
  EXPECT_THAT(rows_of("\xef\xbb\xbf"
                      "a;b",
                      ';'),
              ElementsAre(ElementsAre("a", "b")));
  EXPECT_THAT(rows_of(",\n,x,"), ElementsAre(ElementsAre("", ""), ElementsAre("", "x", "")));
  EXPECT_TRUE(rows_of("").empty());
  EXPECT_TRUE(rows_of("\n\r\n").empty());
}

TEST(DelimitedText, QuotedFieldsHoldAnything) {
  EXPECT_THAT(rows_of("\"a,b\",\"say \"\"yes\"\" or \"\"no\"\"\",\"\"\r\n\"two\nlines\",c,d"),
              ElementsAre(ElementsAre("a,b", "say \"yes\" or \"no\"", ""), ElementsAre("two\nlines", "c", "d")));
}

TEST(DelimitedText, PlacesCountLinesInsideQuotesToo) {
  DelimitedText text("\"a\nb\"\nc\nd", "file", ',');
  std::vector<std::string_view> fields;
  for (const std::string_view place : {"file:1", "file:3", "file:4"}) {
    ASSERT_TRUE(text.next_row(fields));
    EXPECT_EQ(text.place(), place);
  }
}

TEST(DelimitedText, BadQuotesAreNamed) {
  EXPECT_EQ(thrown_error([] { rows_of("x\n\"a\"b,c"); }), "data_loss: t:2: expected a separator after a closing quote, found 'b'");
  EXPECT_EQ(thrown_error([] { rows_of("\"a"); }), "data_loss: t:1: expected a closing quote, found the end of the file");
}

TEST(DelimitedText, TheSeparatorIsWhatTheFirstLineHasMost) {
  EXPECT_EQ(DelimitedText::guess_separator("a;b,c;d\n,,,,"), ';');
  EXPECT_EQ(DelimitedText::guess_separator("a\tb"), '\t');
  EXPECT_EQ(DelimitedText::guess_separator("\"a;b;c\",d"), ',');
  EXPECT_EQ(DelimitedText::guess_separator("alone"), ',');
}

}  // namespace
}  // namespace trireme::data
