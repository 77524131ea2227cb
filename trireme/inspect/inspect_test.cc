// SPDX-License-Identifier: Apache-2.0
// Tests of what is found at a path, what is left out, and what is refused.
#include "trireme/inspect/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/formats/fits_file.h"
#include "trireme/data/formats/npy_array.h"
#include "trireme/data/formats/writer_entry.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/testing/reader.h"
#include "trireme/inspect/kind_entry.h"

namespace trireme::inspect {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class InspectTest : public testing::Test {
 protected:
  // A picture whose colours differ, so that it isn't grey.
  void picture(const std::string& name, std::int64_t height = 8, std::int64_t width = 8, std::int64_t channels = 3) const {
    data::Image image{height, width, channels, {}};
    for (std::int64_t i = 0; i < height * width * channels; ++i) image.pixels.push_back(static_cast<std::uint8_t>(i * 37 % 251));
    write(name, data::encode_png(image));
  }
  void pictures(const std::string& folder, int count) const {
    for (int i = 0; i < count; ++i) picture(folder + "/" + std::to_string(i) + ".png");
  }
  void write(const std::string& name, std::string_view content) const { write_file_atomically(root_ / name, content); }
  Inspection look(const std::string& below = "", const std::string& label = "") const { return inspect(root_ / below, {.label = label}); }
  std::string refusal(const std::string& below = "", const std::string& label = "") const {
    return thrown_error([&] { look(below, label); });
  }
  static std::string option(const Inspection& inspection, const std::string& key) {
    const auto& options = inspection.finding.options;
    const auto found = std::ranges::find(options, key, &ReaderOption::key);
    return found == options.end() ? "none" : found->value;
  }

  data::ScratchFolder folder_;
  fs::path root_ = folder_.path();
};

TEST_F(InspectTest, AFolderOfPicturesByClass) {
  pictures("cat", 3);
  pictures("dog/young", 2);
  write("notes.txt", "text");
  write("cat/old.gif", "GIF89a");
  write("dog/broken.png", "\x89PNG no more");
  const Inspection found = look();
  EXPECT_EQ(found.finding.reader, "image_folder");
  EXPECT_THAT(found.by_class, ElementsAre(3, 2));
  EXPECT_EQ(option(found, "height"), "8");
  EXPECT_EQ(option(found, "channels"), "3");
  EXPECT_EQ(option(found, "on_damage"), "\"skip\"");
  EXPECT_TRUE(found.finding.mirrors);
  EXPECT_THAT(found.finding.left_out, UnorderedElementsAre("cat/old.gif: convert it to PNG or JPEG to use it", "notes.txt: no picture",
                                                           HasSubstr("dog/broken.png")));
  EXPECT_THAT(report_of(found), AllOf(HasSubstr("5 samples, 2 classes: cat 3, dog 2"), HasSubstr("left out: notes.txt")));
}

TEST_F(InspectTest, PartsHaveFoldersOfTheirOwn) {
  for (const char* name : {"Train/a", "Train/b", "val/a", "val/b", "test/a", "test/b"}) pictures(name, 2);
  const Inspection found = look();
  EXPECT_THAT(found.finding.train, ElementsAre(root_ / "Train", root_ / "val"));
  EXPECT_THAT(found.finding.test, ElementsAre(root_ / "test"));
  EXPECT_EQ(found.samples, 8);
  EXPECT_EQ(found.test_samples, 4);
  EXPECT_FALSE(found.finding.mirrors);  // letters
  fs::remove_all(root_ / "test");
  EXPECT_THAT(look().finding.test, ElementsAre(root_ / "val"));
}

TEST_F(InspectTest, AFolderInAFolderIsEntered) {
  pictures("archive/pets/cat", 3);
  pictures("archive/pets/dog", 3);
  EXPECT_THAT(look().finding.train, ElementsAre(root_ / "archive/pets"));
}

TEST_F(InspectTest, MixedSizesBecomeTheMedianWithinLimits) {
  for (int i = 0; i < 3; ++i) {
    picture(fmt::format("cat/{}.png", i), 120, 160);
    picture(fmt::format("dog/{}.png", i), 240 + i, 320);
  }
  const Inspection found = look();
  EXPECT_EQ(option(found, "width"), "64");
  EXPECT_EQ(option(found, "height"), "48");
  EXPECT_EQ(option(found, "fit"), "none");
  EXPECT_EQ(found.format.shape, (Shape{3, 48, 64}));
  for (int i = 3; i < 6; ++i) picture(fmt::format("dog/{}.png", i), 300, 100);
  EXPECT_EQ(option(look(), "fit"), "\"crop\"");
}

TEST_F(InspectTest, GreyPicturesStoredAsColourHaveOneChannel) {
  for (const char* name : {"3/a.png", "7/a.png", "3/b.png", "7/b.png"})
    write(name, data::encode_png({8, 8, 3, std::vector<std::uint8_t>(192, 90)}));
  const Inspection found = look();
  EXPECT_EQ(option(found, "channels"), "1");
  EXPECT_FALSE(found.finding.mirrors);
}

TEST_F(InspectTest, WhatCantBeTrainedOnIsSaid) {
  EXPECT_THAT(refusal("nowhere"), AllOf(HasSubstr("not_found"), HasSubstr("there is no such file or folder")));
  EXPECT_THAT(refusal(), HasSubstr("the folder is empty"));
  write("a.txt", "some text");
  write("b.txt", "more text");
  write("c.pdf", "");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("2 .txt, 1 .pdf"), HasSubstr("What was looked for"), HasSubstr("sub-folders with pictures")));
  EXPECT_THAT(refusal("c.pdf"), AllOf(HasSubstr("this file is no data of a kind that is known"), Not(HasSubstr("It has"))));
  pictures("only", 3);
  EXPECT_THAT(refusal(), HasSubstr("all pictures are in one folder, 'only'"));
}

TEST_F(InspectTest, RunsAndJobsAreNoData) {
  write("run/journal.jsonl", "");
  write("run/config.toml", "");
  write("job.toml", "");
  EXPECT_THAT(refusal("run"), HasSubstr("trireme train --resume"));
  EXPECT_THAT(refusal("job.toml"), HasSubstr("this is a job file"));
}

TEST_F(InspectTest, PicturesSideBySideNeedClasses) {
  pictures(".", 3);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("3 pictures lie side by side"), HasSubstr("a sub-folder for each class")));
}

std::string flowers(int rows) {
  std::string table = "id,colour,length,citric acid,gap,species\n";
  for (int i = 0; i < rows; ++i)
    table += fmt::format("{},{},{},{},{},{}\n", i + 1, i % 2 == 0 ? "red" : "blue", i % 7 == 3 ? "NA" : std::to_string(i % 5), i * 0.5,
                         i % 2 == 0 ? "1" : "", i % 3 == 0 ? "setosa" : "virginica");
  return table;
}

TEST_F(InspectTest, ATableHasItsLabelFoundAndUselessColumnsLeftOut) {
  write("flowers.csv", flowers(40));
  const Inspection found = look("flowers.csv");
  EXPECT_EQ(found.finding.reader, "csv");
  EXPECT_EQ(option(found, "label"), "\"species\"");
  EXPECT_EQ(option(found, "drop"), R"(["id", "colour", "gap"])");
  EXPECT_EQ(option(found, "on_damage"), "\"skip\"");
  EXPECT_EQ(found.format.shape, Shape{2});
  EXPECT_EQ(found.samples, 34);
  EXPECT_THAT(found.finding.left_out,
              ElementsAre("column 'id': an id by its name", "column 'colour': words (2 different), not numbers",
                          "column 'gap': 20 of 40 rows have a gap", HasSubstr("6 rows with a gap or of another length: lines 5, 12, 19")));
  EXPECT_THAT(option(look("", "length"), "label"), "\"length\"");
  EXPECT_THAT(refusal("", "lenght"), AllOf(HasSubstr("did you mean 'length'?"), HasSubstr("--label lenght")));
}

TEST_F(InspectTest, NumbersWithManyValuesAreARegression) {
  std::string table = "a,b,price\n";
  for (int i = 0; i < 60; ++i) table += fmt::format("{},{},{}\n", i * i % 17, i * 3 % 11, 1000.5 + 10 * i);
  write("houses.csv", table);
  const Inspection found = look();
  EXPECT_EQ(option(found, "target"), R"(["price"])");
  EXPECT_EQ(found.classes(), 0);
  EXPECT_NEAR(found.target_mean, 1295.5, 1e-3);
  EXPECT_NEAR(found.target_deviation, 173.2, 0.1);
}

TEST_F(InspectTest, LabelsThatDontCountFromZeroAreNames) {
  std::string table = "a,b,class\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("{},{},{}\n", i % 9, i % 5, i % 4 == 0 ? 12 : i % 4 + 2);
  write("t.csv", table);
  const Inspection found = look();
  EXPECT_EQ(option(found, "class_names"), R"(["3", "4", "5", "12"])");
  EXPECT_THAT(found.by_class, ElementsAre(10, 10, 10, 10));
}

TEST_F(InspectTest, WithoutAHeaderTheLastOrFirstColumnIsTheLabel) {
  std::string last, first;
  for (int i = 0; i < 60; ++i) {
    last += fmt::format("{},{},{}\n", i * 0.25, i * 7 % 31, i % 2);
    first += fmt::format("{},{},{}\n", i % 2, i * 7 % 31, i * 0.25);
  }
  write("last.csv", last);
  write("first.csv", first);
  EXPECT_EQ(option(look("last.csv"), "label"), "\"3\"");
  EXPECT_EQ(option(look("first.csv"), "label"), "\"1\"");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("has 2 tables (first.csv, last.csv)"), HasSubstr("name the one")));
}

TEST_F(InspectTest, ATestTableWithoutLabelsIsLeftOut) {
  write("train.csv", flowers(40));
  write("test.csv", flowers(10));
  EXPECT_EQ(look().test_samples, 9);
  write("test.csv", "id,length\n1,2\n2,3\n");
  const Inspection found = look();
  EXPECT_EQ(found.test_samples, 0);
  EXPECT_THAT(found.finding.left_out, Contains(HasSubstr("test.csv: no column 'species'")));
}

TEST_F(InspectTest, TablesThatTeachNothingAreRefused) {
  write("t.csv", "a,b\n1,x\n2,x\n3,x\n4,x\n5,x\n");
  EXPECT_THAT(refusal("t.csv"), HasSubstr("it has only the value 'x'"));
  write("t.csv", "a,b\n1,u\n2,v\n3,w\n4,x\n5,y\n");
  EXPECT_THAT(refusal("t.csv"), HasSubstr("5 different words in 5 rows"));
  write("t.csv", "a,b\nx,u\ny,v\nx,u\ny,v\n");
  EXPECT_THAT(refusal("t.csv"), HasSubstr("no column of numbers is left"));
  write("t.csv", "a,b\n1,2\n");
  EXPECT_THAT(refusal("t.csv"), HasSubstr("too little of a table"));
  write("t.csv", std::string("PK\3\4\0\0\0", 7));
  EXPECT_THAT(refusal("t.csv"), HasSubstr("expected text, found bytes of value 0"));
}

TEST_F(InspectTest, IdxFilesArePaired) {
  std::string header("\0\0\x08\x03\0\0\0\x06\0\0\0\x02\0\0\0\x02", 16);
  header += std::string(24, 'x');
  const std::string labels = std::string("\0\0\x08\x01\0\0\0\x06", 8) + std::string("\0\1\0\1\0\1", 6);
  write("t10k-images-idx3-ubyte", header);
  EXPECT_THAT(refusal(), HasSubstr("no pair of images and labels"));
  write("t10k-labels-idx1-ubyte", labels);
  const Inspection found = look();
  EXPECT_EQ(found.finding.reader, "idx");
  EXPECT_THAT(found.finding.test, IsEmpty());  // all there is is trained on
  EXPECT_THAT(found.by_class, ElementsAre(3, 3));
  write("train-images-idx3-ubyte", header);
  write("train-labels-idx1-ubyte", labels);
  EXPECT_EQ(look().test_samples, 6);
}

TEST_F(InspectTest, CifarBatchesAreRecognisedByTheirSize) {
  std::string batch;
  for (int i = 0; i < 6; ++i) batch += static_cast<char>(i % 2) + std::string(3072, static_cast<char>(i));
  write("data_batch_1.bin", batch);
  write("test_batch.bin", batch);
  write("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  const Inspection found = look();
  EXPECT_EQ(found.finding.reader, "cifar");
  EXPECT_EQ(found.test_samples, 6);
  EXPECT_THAT(option(found, "class_names"), HasSubstr(R"("i", "j"])"));
}

TEST_F(InspectTest, SpectraPredictTheirRedshift) {
  for (int i = 0; i < 5; ++i) {
    std::vector<float> flux, grid, weight;
    for (int k = 0; k < 40; ++k) {
      flux.push_back(static_cast<float>(k + i));
      grid.push_back(3.5F + 0.0125F * static_cast<float>(k));
      weight.push_back(1);
    }
    data::write_fits(root_ / fmt::format("{}.fits", i),
                     {{{"flux", flux}, {"loglam", grid}, {"ivar", weight}}, {{"Z", {0.1F * static_cast<float>(i)}}}});
  }
  write("broken.fits", "SIMPLE");
  write("list.txt", "names");
  const Inspection found = look();
  EXPECT_EQ(found.finding.form, Form::curves);
  EXPECT_EQ(found.samples, 5);
  EXPECT_EQ(option(found, "bins"), "0");
  EXPECT_NEAR(found.target_mean, 0.2, 1e-6);
  EXPECT_THAT(found.finding.left_out, UnorderedElementsAre(HasSubstr("broken.fits"), HasSubstr("list.txt: no .fits file")));
}

TEST_F(InspectTest, PicturesWithATableOfClasses) {
  for (int i = 0; i < 6; ++i) picture(fmt::format("images/{}.png", i));
  std::string table = "file,breed\n";
  for (int i = 0; i < 6; ++i) table += fmt::format("{}.png,{}\n", i, i % 2 == 0 ? "poodle" : "boxer");
  write("labels.csv", table + "7.png,boxer\n");
  picture("images/other.png");
  const Inspection found = look();
  EXPECT_EQ(found.finding.reader, "image_table");
  EXPECT_THAT(found.by_class, ElementsAre(3, 3));
  EXPECT_THAT(found.finding.left_out, UnorderedElementsAre(HasSubstr("other.png: not in the table"), HasSubstr("7.png")));
  EXPECT_TRUE(found.finding.mirrors);
  pictures("a", 2);
  pictures("b", 2);
  EXPECT_EQ(look().finding.reader, "image_folder");  // folders say the class
}

TEST_F(InspectTest, ArraysOfNumpy) {
  std::string pixels(96, 'x'), labels;
  for (int i = 0; i < 6; ++i) labels += std::string{static_cast<char>(i % 3), 0, 0, 0};
  write("x.npy", data::npy_file("|u1", {6, 4, 4}, pixels));
  EXPECT_THAT(refusal("x.npy"), HasSubstr("name the folder"));
  write("y.npy", data::npy_file("<i4", {6}, labels));
  const Inspection found = look();
  EXPECT_EQ(found.finding.reader, "npy");
  EXPECT_EQ(found.finding.form, Form::pictures);
  EXPECT_THAT(found.by_class, ElementsAre(2, 2, 2));
}

TEST_F(InspectTest, ShardsOfPicturesOfSeveralSizes) {
  const data::WriterEntry& writer = data::find_writer("tfrecord");
  const auto shard = [&](const std::string& name, std::int64_t side) {
    for (const char* label : {"cat", "dog"})
      for (int i = 0; i < 3; ++i) picture(fmt::format("{}/{}/{}.png", name, label, i), side, side);
    fs::create_directories(root_ / ("out_" + name));
    const auto files =
        data::write_set(writer, *data::open_with("image_folder", {root_ / name}), {.folder = root_ / ("out_" + name), .encoding = "png"});
    fs::create_directories(root_ / "shards");
    fs::rename(files[0], root_ / "shards" / (name + ".tfrecord"));
  };
  shard("a", 8);
  EXPECT_EQ(option(look("shards"), "height"), "none");
  shard("b", 12);
  const Inspection found = look("shards");
  EXPECT_EQ(option(found, "height"), "64");
  EXPECT_EQ(found.samples, 12);
}

TEST_F(InspectTest, RowsOfATableMayBeCurves) {
  std::string smooth, rough;
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 80; ++k) {
      smooth += fmt::format("{},", (k - 40) * (k - 40 + i));
      rough += fmt::format("{},", (k * 7919 + i * 104729) % 997);
    }
    smooth += i % 2 == 0 ? "up\n" : "down\n";
    rough += i % 2 == 0 ? "up\n" : "down\n";
  }
  write("smooth.csv", smooth);
  write("rough.csv", rough);
  EXPECT_EQ(look("smooth.csv").finding.form, Form::curves);
  EXPECT_EQ(look("rough.csv").finding.form, Form::table);
}

TEST_F(InspectTest, NamesOfDataAndOfJobs) {
  write("job.toml", "");
  write("job", "");
  write("t.csv.gz", "");
  write("x-images-idx3-ubyte", "");
  EXPECT_TRUE(names_data(root_));
  EXPECT_TRUE(names_data(root_ / "t.csv.gz"));
  EXPECT_TRUE(names_data(root_ / "x-images-idx3-ubyte"));
  EXPECT_FALSE(names_data(root_ / "job.toml"));
  EXPECT_FALSE(names_data(root_ / "job"));
  EXPECT_FALSE(names_data(root_ / "nowhere.csv"));
}

TEST(Kinds, SayWhatTheyLookForInAnOrder) {
  std::vector<int> orders;
  for (const KindEntry& kind : kinds::catalog()) {
    EXPECT_THAT(std::string(kind.looked_for), Not(IsEmpty())) << kind.name;
    orders.push_back(kind.order);
  }
  std::ranges::sort(orders);
  EXPECT_EQ(std::ranges::adjacent_find(orders), orders.end()) << "two kinds have the same order";
}

}  // namespace
}  // namespace trireme::inspect
