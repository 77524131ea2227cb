// SPDX-License-Identifier: Apache-2.0
// Pictures whose classes a table names: how columns and pictures are found, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/testing/exif.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ImageTable : public testing::Test {
 protected:
  ImageTable() {
    fs::create_directories(root_ / "more");
    for (const char* name : {"1.png", "2.png", "more/3.png"}) folder_.write(name, encode_png({1, 2, 1, {10, 20}}));
  }
  void table(std::string_view text) const { folder_.write("labels.csv", text); }
  std::unique_ptr<Source> open(std::string_view options = "") const { return open_with("image_table", {root_}, options); }
  std::string failure(std::string_view options = "") const {
    return thrown_error([&] { open(options); });
  }
  static std::vector<std::string> names(const Source& source) {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < source.size(); ++i) all.push_back(source.sample_name(i));
    return all;
  }

  ScratchFolder folder_;
  fs::path root_ = folder_.path();
};

TEST_F(ImageTable, ColumnsAreFoundByWhatIsInThem) {
  table("who,file,Label,size\nann,2.png,dog,7\nbob,more/3.png,cat,8\ncyd,1.png,dog,9\n");
  const auto source = open();
  EXPECT_THAT(names(*source), ElementsAre("2.png", "more/3.png", "1.png"));
  EXPECT_THAT(source->format().class_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(all_labels(*source), ElementsAre(1, 0, 1));
  EXPECT_TRUE(source->warnings().empty());
}

TEST_F(ImageTable, NamesMayLackFolderOrExtension) {
  table("id;kind\n1;a\nsomewhere\\2.png;b\n3;a\n");
  EXPECT_THAT(names(*open()), ElementsAre("1.png", "2.png", "more/3.png"));
}

TEST_F(ImageTable, AHeaderIsNotNeeded) {
  table("1.png\t5\n2.png\t0\n");
  const auto source = open();
  EXPECT_THAT(all_labels(*source), ElementsAre(5, 0));
  EXPECT_THAT(source->warnings(), ElementsAre(AllOf(HasSubstr("passed over 1 pictures"), HasSubstr("more/3.png"))));
}

TEST_F(ImageTable, OptionsNameTableAndColumns) {
  folder_.write("labels.csv", "a,b,c\n1.png,x,2.png\n2.png,y,1.png\n");
  EXPECT_THAT(failure(), AllOf(HasSubstr("write data.label_column"), HasSubstr("a, b, c")));
  EXPECT_THAT(names(*open("file_column = 'c'\nlabel_column = '2'")), ElementsAre("2.png", "1.png"));
  EXPECT_THAT(failure("label_column = 'd'"), HasSubstr("label_column is 'd', but its columns are: a, b, c"));
  folder_.write("more/other.csv", "1.png,x\n2.png,z\n");
  EXPECT_THAT(open("table = '" + (root_ / "more/other.csv").string() + "'")->format().class_names, ElementsAre("x", "z"));
  EXPECT_THAT(failure("table = '/nowhere/t.csv'"), HasSubstr("/nowhere/t.csv: there is no such table"));
  folder_.write("second.csv", "1.png,x\n");
  EXPECT_THAT(failure(), AllOf(HasSubstr("has 2 tables"), HasSubstr("second.csv"), HasSubstr("data.table")));
}

TEST_F(ImageTable, TheTestPartHasItsTableOrTheSame) {
  table("1.png,x\n2.png,y\n");
  folder_.write("more/test.csv", "3.png,y\n");
  ReaderRequest request = request_of("image_table", {root_ / "more"}, "table = '" + (root_ / "labels.csv").string() + "'");
  request.part = Part::test;
  EXPECT_THAT(names(*find_reader("image_table").open(request)), ElementsAre("3.png"));
  request.files = {root_};
  EXPECT_THAT(names(*find_reader("image_table").open(request)), ElementsAre("1.png", "2.png"));
}

TEST_F(ImageTable, AMissingPictureIsNamedOrSkipped) {
  table("1.png,x\nnone.png,y\n../x.png,y\n2.png,y\n");
  EXPECT_THAT(failure(), AllOf(HasSubstr("labels.csv:2: names the picture 'none.png'"), HasSubstr("on_damage = \"skip\"")));
  const auto source = open("on_damage = 'skip'");
  EXPECT_THAT(names(*source), ElementsAre("1.png", "2.png"));
  EXPECT_THAT(source->skipped(), ElementsAre(HasSubstr("none.png"), HasSubstr("../x.png")));
}

TEST_F(ImageTable, PicturesAreTreatedAsInFolders) {
  folder_.write("1.png", with_exif(encode_png({2, 4, 1, {1, 2, 3, 4, 5, 6, 7, 8}}), exif_tiff(6)));
  table("1.png,x\n2.png,x\n");
  EXPECT_THAT(failure(), AllOf(HasSubstr("2.png: is 1x1x2"), HasSubstr("write data.height")));
  const auto source = open("height = 4\nwidth = 2");
  EXPECT_THAT(all_u8(*source), ElementsAre(5, 1, 6, 2, 7, 3, 8, 4, 10, 20, 10, 20, 10, 20, 10, 20));
  EXPECT_THAT(failure("height = 3"), HasSubstr("image_table: height is 3 and width is 0"));
  folder_.write("2.png", "no picture");
  EXPECT_THAT(names(*open("on_damage = 'skip'")), ElementsAre("1.png"));
}

TEST_F(ImageTable, WhatIsNoTableOfPicturesIsNamed) {
  EXPECT_THAT(failure(), HasSubstr("has no .csv file"));
  table("a,b\nx,y\n");
  EXPECT_THAT(failure(), AllOf(HasSubstr("no column names pictures"), HasSubstr("which has 3 (1.png"), HasSubstr("x, y")));
  EXPECT_THAT(thrown_error([&] { open_with("image_table", {root_ / "labels.csv"}); }), HasSubstr("takes folders of pictures"));
}

}  // namespace
}  // namespace trireme::data
