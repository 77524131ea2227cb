// SPDX-License-Identifier: Apache-2.0
// Tests of tables as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class Csv : public testing::Test {
 protected:
  std::unique_ptr<Source> open(std::string_view content, std::string_view options = "") const {
    return open_with("csv", {folder_.write("t.csv", content)}, options);
  }
  std::string failure(std::string_view content, std::string_view options = "") const {
    return thrown_error([&] { open(content, options); });
  }

  ScratchFolder folder_;
};

TEST_F(Csv, RowsToBePredictedNeedNoAnswers) {
  const auto trained = open("u,g,class\n1,2.5,STAR\n5,6,GALAXY\n");
  const auto unanswered = [&](std::string_view content) {
    return find_reader("csv").open_unanswered(request_of("csv", {folder_.write("new.csv", content)}), trained->format());
  };
  EXPECT_THAT(all_f32(*unanswered("name,g,u\nx,2,1\ny,4,3\n")), ElementsAre(1.0F, 2.0F, 3.0F, 4.0F));
  EXPECT_THAT(all_f32(*unanswered("7,8\n9,10\n")), ElementsAre(7.0F, 8.0F, 9.0F, 10.0F));
  EXPECT_THAT(all_f32(*unanswered("7,8,1\n")), ElementsAre(7.0F, 8.0F));
  EXPECT_THAT(all_labels(*unanswered("u,g\n1,2\n3,4\n")), ElementsAre(0, 0));
  EXPECT_THAT(thrown_error([&] { unanswered("u,h\n1,2\n"); }), EndsWith("does not have: g"));
  EXPECT_THAT(thrown_error([&] { unanswered("7,8,9,10\n"); }), EndsWith("the model takes 2 values, this table has 4 columns"));
}

TEST_F(Csv, WordsBecomeClassesInSortedOrder) {
  const auto source = open("u,g,class\n1,2.5,STAR\n-3e-1,4,GALAXY\n5,6,STAR\n");
  EXPECT_THAT(source->format().class_names, ElementsAre("GALAXY", "STAR"));
  EXPECT_THAT(source->format().value_names, ElementsAre("u", "g"));
  EXPECT_THAT(all_labels(*source), ElementsAre(1, 0, 1));
  EXPECT_EQ(source->format().shape, Shape{2});
  EXPECT_THAT(all_f32(*source), ElementsAre(1.0F, 2.5F, -0.3F, 4.0F, 5.0F, 6.0F));
}

TEST_F(Csv, NumbersStayTheClassesTheyAre) {
  const auto source = open("y;a\n7;1\n0;2\n", "label = 'y'");
  EXPECT_THAT(all_labels(*source), ElementsAre(7, 0));
  EXPECT_EQ(source->format().classes, 8);
  EXPECT_EQ(open("y;a\n7;1\n", "label = 'y'\nclasses = 10")->format().classes, 10);
  EXPECT_THAT(failure("y;a\n0;1\n7;1\n", "label = 'y'\nclasses = 3"), EndsWith("t.csv:3: expected a label from 0 to 2, found 7"));
  EXPECT_THAT(failure("y;a\n-1;1\n", "label = 'y'"), HasSubstr("found -1"));
}

TEST_F(Csv, ClassNamesKeepTheSameOrderInEveryFile) {
  EXPECT_THAT(all_labels(*open("a,c\n1,dog\n", "class_names = ['cat', 'dog', 'eel']")), ElementsAre(1));
  EXPECT_THAT(failure("a,c\n1,fox\n", "class_names = ['cat', 'dog']"),
              EndsWith("t.csv:2: expected a label out of class_names (cat, dog), found 'fox'"));
}

TEST_F(Csv, TargetsMakeARegression) {
  const auto source = open("z,a,id,t\n0.5,1,x,10\n0.25,2,y,20\n", "target = ['t', 'z']\ndrop = 'id'");
  EXPECT_EQ(source->format().classes, 0);
  EXPECT_EQ(source->format().targets, 2);
  EXPECT_THAT(source->target(1), ElementsAre(20.0F, 0.25F));
  EXPECT_THAT(all_f32(*source), ElementsAre(1.0F, 2.0F));
}

TEST_F(Csv, RowsWithGapsAreLeftOutOnRequest) {
  const std::string table = "a,b,y\n1,2,cat\n,3,dog\n4,NA,cat\n5,6\n7,8,\n9,10,dog\n";
  EXPECT_THAT(failure(table), HasSubstr("t.csv:3: expected a finite number in column 'a'"));
  const auto source = open(table, "on_damage = 'skip'");
  EXPECT_THAT(all_f32(*source), ElementsAre(1.0F, 2.0F, 9.0F, 10.0F));
  EXPECT_THAT(all_labels(*source), ElementsAre(0, 1));
  EXPECT_THAT(source->skipped(),
              ElementsAre(HasSubstr("t.csv:3: "), HasSubstr("t.csv:4: "), HasSubstr("t.csv:5: "), HasSubstr("t.csv:6: ")));
  EXPECT_THAT(source->warnings(), ElementsAre(HasSubstr("left out 4 of 6 rows")));
  EXPECT_THAT(failure("a,y\n,cat\n,dog\n", "on_damage = 'skip'"), HasSubstr("no row is whole"));
}

TEST_F(Csv, ColumnsHaveNumbersToo) {
  const auto source = open("1\t2\t0\n3\t4\t1\n", "header = false\nlabel = '3'\ndrop = ['1']");
  EXPECT_THAT(all_f32(*source), ElementsAre(2.0F, 4.0F));
  EXPECT_THAT(all_labels(*source), ElementsAre(0, 1));
}

TEST_F(Csv, ValuesCanBeImages) {
  constexpr std::string_view kRow = "1,2,3,4,5,6,0\n";
  const auto planar = open(kRow, "header = false\nchannels = 2\nheight = 1");
  EXPECT_EQ(planar->format().shape, (Shape{2, 1, 3}));
  EXPECT_THAT(all_f32(*planar), ElementsAre(1, 2, 3, 4, 5, 6));
  const auto interleaved = open(kRow, "header = false\nchannels = 2\nheight = 1\ninterleaved = true");
  EXPECT_THAT(all_f32(*interleaved), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_EQ(open(kRow, "header = false\nchannels = 3")->format().shape, (Shape{3, 2}));
  EXPECT_THAT(failure(kRow, "header = false\nheight = 4"), HasSubstr("make 1x4x1 values, the columns make 6"));
}

TEST_F(Csv, AFirstLineOfNumbersIsASample) {
  EXPECT_THAT(all_f32(*open("5,3,0\n7,4,1\n")), ElementsAre(5, 3, 7, 4));
  const auto words = open("5.1,3.5,setosa\n7.0,3.2,versicolor\n");
  EXPECT_THAT(all_f32(*words), ElementsAre(5.1F, 3.5F, 7.0F, 3.2F));
  EXPECT_THAT(words->format().class_names, ElementsAre("setosa", "versicolor"));
  EXPECT_EQ(open("5,3,0\n7,4,1\n", "header = true")->size(), 1);
  EXPECT_EQ(open("5,3,0\n7,4,1\n", "header = 'true'")->size(), 1);
  EXPECT_THAT(failure("a,b,y\n7,4,1\n", "header = false"), HasSubstr("t.csv:1: expected a finite number in column '1', found 'a'"));
}

// Years, pixels by number, what pandas calls columns without a name.
TEST_F(Csv, NamesMayLookLikeNumbers) {
  EXPECT_EQ(open("label,0,1\n7,0.5,0.5\n3,1,1\n", "label = 'label'")->size(), 2);
  EXPECT_EQ(open("2019,2020,class\n1,2,0\n", "label = 'class'")->size(), 1);
  EXPECT_EQ(open("0,1,2\n0.5,0.5,1\n")->size(), 1);
}

TEST_F(Csv, SeparatorsAreFoundOrNamed) {
  for (const std::string_view text : {"a|b|y\n1|2|0\n", "a b y\n1 2 0\n", "  a   b y \n 1  2   0 \n", "a\tb\ty\n1\t2\t0\n"})
    EXPECT_THAT(all_f32(*open(text)), ElementsAre(1, 2)) << text;
  EXPECT_THAT(all_f32(*open("a|b|y\n1|2|0\n", "separator = 'bar'")), ElementsAre(1, 2));
  EXPECT_THAT(failure("a;y\n1,5;0\n"), HasSubstr("found '1,5'; write numbers with a point"));
}

TEST_F(Csv, CommentsAndEmptyLinesArePassedOver) {
  EXPECT_THAT(all_f32(*open("# made; by; hand\n\na,y\n1,0\n\n  \r\n# more\n2,1\n\n")), ElementsAre(1, 2));
  EXPECT_THAT(failure("# one\n\na,y\n1,0\n\nx,1\n"), HasSubstr("t.csv:6: "));
  EXPECT_THAT(failure("# nothing\n"), HasSubstr("found an empty file"));
}

std::string utf16_of(std::string_view ascii, bool little_endian) {
  std::string bytes = little_endian ? "\xff\xfe" : "\xfe\xff";
  for (const char c : ascii) bytes += little_endian ? std::string{c, '\0'} : std::string{'\0', c};
  return bytes;
}

TEST_F(Csv, Utf16IsDecoded) {
  for (const bool little_endian : {true, false}) {
    std::string text = utf16_of("a,y\n1,x", little_endian);
    text += little_endian ? std::string("\xe9\x00\x3d\xd8\x00\xde", 6) : std::string("\x00\xe9\xd8\x3d\xde\x00", 6);
    EXPECT_THAT(open(text)->format().class_names, ElementsAre("x\xc3\xa9\xf0\x9f\x98\x80"));
  }
  EXPECT_THAT(failure(utf16_of("a,y\n1,0", true) + "x"), HasSubstr("ends within a character"));
  EXPECT_THAT(failure(utf16_of("a,y\n1,0", true) + "\x3d\xd8"), HasSubstr("is no UTF-16; save the file as UTF-8"));
  EXPECT_THAT(failure(utf16_of("a,y\n1,0", true).substr(2)), HasSubstr("must be saved as CSV in UTF-8"));
}

TEST_F(Csv, LabelsMayCountFrom1AndHaveNames) {
  constexpr std::string_view kText = "a,y\n1,1\n2,3\n3,2\n";
  EXPECT_THAT(all_labels(*open(kText, "first_label = 1")), ElementsAre(0, 2, 1));
  EXPECT_EQ(open(kText, "first_label = 1")->format().classes, 3);
  EXPECT_TRUE(open(kText, "first_label = 1")->warnings().empty());
  EXPECT_THAT(open(kText)->warnings(), ElementsAre(HasSubstr("set first_label = 1")));
  EXPECT_THAT(failure(kText, "classes = 3"), HasSubstr("t.csv:3: expected a label from 0 to 2, found 3; first_label = 1 if"));
  EXPECT_THAT(failure("a,y\n1,0\n", "first_label = 1"), HasSubstr("expected a label of at least 1 (first_label), found 0"));
  const auto named = open(kText, "first_label = 1\nclass_names = ['ant', 'bee', 'cat']");
  EXPECT_THAT(all_labels(*named), ElementsAre(0, 2, 1));
  EXPECT_THAT(named->format().class_names, ElementsAre("ant", "bee", "cat"));
  EXPECT_THAT(all_labels(*open("a,y\n1,1\n2,0\n", "class_names = ['ant', 'bee']")), ElementsAre(1, 0));
  EXPECT_THAT(all_labels(*open("a,y\n1,7\n2,5\n", "class_names = ['5', '7']")), ElementsAre(1, 0));
}

TEST_F(Csv, FilesWithTheSameColumnsFollowOneAnother) {
  const auto first = folder_.write("a.csv", "a,y\n1,0\n2,1\n"), second = folder_.write("b.csv", "a,y\n3,1\n");
  const auto source = open_with("csv", {first, second});
  EXPECT_THAT(all_f32(*source), ElementsAre(1, 2, 3));
  EXPECT_THAT(source->file_starts(), ElementsAre(0, 2));
  const auto other = folder_.write("c.csv", "b,y\n3,1\n");
  EXPECT_THAT(thrown_error([&] { open_with("csv", {first, other}); }), EndsWith("c.csv:1: the columns are not those of the first file"));
}

TEST_F(Csv, WhatIsWrongIsSaidWithLineAndColumn) {
  EXPECT_THAT(failure("a,y\n1,0\nx1,1\n"), EndsWith("t.csv:3: expected a finite number in column 'a', found 'x1'"));
  for (const std::string_view bad : {"", " ", "1 2", "nan", "inf", "1e999", "1e39", "0x10", "--1", "+-1", "1,5"})
    EXPECT_THAT(failure(fmt::format("a,y\n\"{}\",0\n", bad)),
                HasSubstr(fmt::format("t.csv:2: expected a finite number in column 'a', found '{}'", bad)));
  EXPECT_EQ(all_f32(*open("a,y\n +1.5 ,0\n"))[0], 1.5F);
  EXPECT_THAT(failure("a,b,y\n1,2,0\n1,2\n"), EndsWith("t.csv:3: expected 3 values, found 2"));
  EXPECT_THAT(failure("a,y\n1,\n"), EndsWith("t.csv:2: expected a label, found nothing"));
  EXPECT_THAT(failure("a,y\n"), EndsWith("t.csv: expected lines of values after the header, found none"));
  EXPECT_THAT(failure(""), EndsWith("t.csv: expected lines of values, found an empty file"));
}

TEST_F(Csv, ColumnsThatAreNotThereAreNamed) {
  EXPECT_THAT(failure("alpha,y\n1,0\n", "label = 'alphA'"), EndsWith("there is no column 'alphA' among its 2; did you mean 'alpha'?"));
  EXPECT_THAT(failure("a,y\n1,0\n", "drop = '3'"), HasSubstr("there is no column '3' among its 2"));
  EXPECT_THAT(failure("a,y\n1,0\n", "label = 'y'\ndrop = 'y'"), HasSubstr("column 'y' is named twice"));
  EXPECT_THAT(failure("a,y\n1,0\n", "label = 'y'\ntarget = 'a'"), HasSubstr("give a label or targets, not both"));
  EXPECT_THAT(failure("a,y\n1,0\n", "drop = 'a'"), HasSubstr("no column is left"));
}

}  // namespace
}  // namespace trireme::data
