// SPDX-License-Identifier: Apache-2.0
// Tests of numpy's arrays: types, orders, names of arrays, kinds of labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/formats/npy_array.h"
#include "trireme/data/formats/zip_file.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string swapped(std::string bytes, std::size_t size) {
  for (std::size_t at = 0; at < bytes.size(); at += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
  return bytes;
}

std::string utf32(const std::vector<std::string>& texts, std::size_t length) {
  std::string bytes;
  for (const std::string& text : texts)
    for (std::size_t i = 0; i < length; ++i) bytes += std::string{i < text.size() ? text[i] : '\0', 0, 0, 0};
  return bytes;
}

using Members = std::vector<std::pair<std::string, std::string>>;

class Npy : public testing::Test {
 protected:
  std::unique_ptr<Source> open(const Members& arrays, const std::string& options = "", bool deflated = false) const {
    Members members;
    for (const auto& [name, file] : arrays) members.emplace_back(name + ".npy", file);
    return open_with("npy", {folder_.write("a.npz", zip_archive(members, deflated))}, options);
  }
  std::unique_ptr<Source> open_features(const std::string& file, const std::string& options = "") const {
    return open({{"x", file}, {"y", npy_file("|u1", {2}, std::string("\0\1", 2))}}, options);
  }
  std::unique_ptr<Source> open_labels(const std::string& file, const std::string& options = "") const {
    return open({{"x", npy_file("|u1", {3, 2}, "abcdef")}, {"y", file}}, options);
  }

  ScratchFolder folder_;
  const std::string two_ = npy_file("|u1", {2}, std::string("\0\1", 2));
  const std::string four_bytes_ = npy_file("|u1", {2, 2}, "abcd");
};

TEST_F(Npy, BytesStayBytes) {
  for (const bool deflated : {false, true}) {
    const auto source = open({{"x", four_bytes_}, {"y", two_}}, "", deflated);
    EXPECT_EQ(source->format().shape, Shape{2});
    EXPECT_EQ(source->format().element, Element::u8);
    EXPECT_EQ(source->format().classes, 2);
    EXPECT_THAT(all_u8(*source), ElementsAre('a', 'b', 'c', 'd'));
    EXPECT_THAT(all_labels(*source), ElementsAre(0, 1));
  }
}

TEST_F(Npy, EveryTypeOfNumberIsRead) {
  const auto floats = [&](std::string_view type, const std::string& bytes) {
    return all_f32(*open_features(npy_file(type, {2, 1}, bytes)));
  };
  EXPECT_THAT(floats("<f4", bytes_of<float>({1.5F, -2})), ElementsAre(1.5F, -2));
  EXPECT_THAT(floats("<f8", bytes_of<double>({1.5, -2})), ElementsAre(1.5F, -2));
  EXPECT_THAT(floats(">f8", swapped(bytes_of<double>({1.5, -2}), 8)), ElementsAre(1.5F, -2));
  EXPECT_THAT(floats("<f2", bytes_of<std::uint16_t>({0x3e00, 0xc000})), ElementsAre(1.5F, -2));
  EXPECT_THAT(floats("<f2", bytes_of<std::uint16_t>({0x0001, 0x03ff})), ElementsAre(0x1p-24F, 1023 * 0x1p-24F));
  EXPECT_THAT(floats("|i1", bytes_of<std::int8_t>({-1, 100})), ElementsAre(-1, 100));
  EXPECT_THAT(floats(">i2", swapped(bytes_of<std::int16_t>({-300, 5}), 2)), ElementsAre(-300, 5));
  EXPECT_THAT(floats("<i4", bytes_of<std::int32_t>({-300000, 5})), ElementsAre(-300000, 5));
  EXPECT_THAT(floats("<i8", bytes_of<std::int64_t>({-3, 1 << 30})), ElementsAre(-3, 1 << 30));
  EXPECT_THAT(floats("<u2", bytes_of<std::uint16_t>({65535, 5})), ElementsAre(65535, 5));
  EXPECT_THAT(floats("|b1", std::string("\1\0", 2)), ElementsAre(1, 0));
}

// Two samples of 2 x 3: in Fortran order the sample's number changes fastest.
TEST_F(Npy, FortranOrderIsTurned) {
  const auto source = open_features(npy_file("|u1", {2, 2, 3}, "agdjbhekcifl", true));
  EXPECT_EQ(source->format().shape, (Shape{1, 2, 3}));
  EXPECT_THAT(all_u8(*source), ElementsAre('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'));
}

TEST_F(Npy, ChannelsMayStandLast) {
  const auto shape = [&](const std::vector<std::int64_t>& extents, const std::string& options = "") {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) count *= extent;
    return open_features(npy_file("|u1", extents, std::string(static_cast<std::size_t>(count), 'x')), options)->format().shape;
  };
  EXPECT_EQ(shape({2, 4, 5, 3}), (Shape{3, 4, 5}));
  EXPECT_EQ(shape({2, 3, 4, 5}), (Shape{3, 4, 5}));
  EXPECT_EQ(shape({2, 28, 28, 1}), (Shape{1, 28, 28}));
  EXPECT_EQ(shape({2, 3, 5, 3}), (Shape{3, 3, 5}));
  EXPECT_EQ(shape({2, 3, 5, 3}, "layout = 'channels_first'"), (Shape{3, 5, 3}));
  EXPECT_EQ(shape({2, 5, 7}), (Shape{1, 5, 7}));
  EXPECT_EQ(shape({2, 5, 7}, "layout = 'channels_first'"), (Shape{5, 7}));
  EXPECT_EQ(shape({2, 5, 7}, "layout = 'channels_last'"), (Shape{7, 5}));
  EXPECT_EQ(shape({2}), Shape{1});
  EXPECT_THAT(all_u8(*open_features(npy_file("|u1", {2, 1, 2, 3}, "abcdefghijkl"))),
              ElementsAre('a', 'd', 'b', 'e', 'c', 'f', 'g', 'j', 'h', 'k', 'i', 'l'));
}

TEST_F(Npy, LabelsAreClassesOrNumbers) {
  const auto ints = open_labels(npy_file("<i4", {3, 1}, bytes_of<std::int32_t>({2, 0, 1})));
  EXPECT_THAT(all_labels(*ints), ElementsAre(2, 0, 1));
  EXPECT_EQ(ints->format().classes, 3);
  const auto words = open_labels(npy_file("<U3", {3}, utf32({"dog", "cat", "dog"}, 3)));
  EXPECT_THAT(all_labels(*words), ElementsAre(1, 0, 1));
  EXPECT_THAT(words->format().class_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(open_labels(npy_file("|S2", {3}, std::string("b\0aab\0", 6)))->format().class_names, ElementsAre("aa", "b"));
  const auto hot = open_labels(npy_file("<f4", {3, 2}, bytes_of<float>({0, 1, 1, 0, 0, 1})));
  EXPECT_THAT(all_labels(*hot), ElementsAre(1, 0, 1));
  EXPECT_EQ(hot->format().classes, 2);
  const auto whole = open_labels(npy_file("<f8", {3}, bytes_of<double>({2, 0, 1})));
  EXPECT_THAT(all_labels(*whole), ElementsAre(2, 0, 1));
  EXPECT_THAT(whole->warnings(), ElementsAre(HasSubstr("predict = \"number\"")));
  const auto numbers = open_labels(npy_file("<f8", {3}, bytes_of<double>({2.5, 0, 1})));
  EXPECT_EQ(numbers->format().targets, 1);
  EXPECT_THAT(numbers->target(0), ElementsAre(2.5F));
  const auto asked = open_labels(npy_file("<i4", {3, 2}, bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6})), "predict = 'number'");
  EXPECT_THAT(asked->target(1), ElementsAre(3, 4));
}

TEST_F(Npy, LabelsThatFitNothingAreNamed) {
  const auto failure = [&](const std::string& file, const std::string& options = "") {
    return thrown_error([&] { open_labels(file, options); });
  };
  EXPECT_THAT(failure(npy_file("<i4", {3, 2}, bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6}))),
              AllOf(HasSubstr("a.npz: array 'y'"), HasSubstr("int32, 3x2"), HasSubstr("data.predict = \"number\"")));
  EXPECT_THAT(failure(two_), HasSubstr("expected 3 labels, one per sample, found uint8, 2"));
  EXPECT_THAT(failure(npy_file("<i4", {3}, bytes_of<std::int32_t>({1, -2, 3}))), HasSubstr("found -2"));
  EXPECT_THAT(failure(npy_file("<f4", {3}, bytes_of<float>({1, NAN, 3}))), HasSubstr("expected finite numbers, found nan in sample 1"));
  EXPECT_THAT(failure(npy_file("<f4", {3}, bytes_of<float>({1, 0.5, 3})), "predict = 'class'"), HasSubstr("no classes"));
}

TEST_F(Npy, EachPartHasItsArrays) {
  const Members both{
      {"x_train", four_bytes_}, {"y_train", two_}, {"x_test", npy_file("|u1", {1, 2}, "ef")}, {"y_test", npy_file("|u1", {1}, "\1")}};
  Members members;
  for (const auto& [name, file] : both) members.emplace_back(name + ".npy", file);
  ReaderRequest request = request_of("npy", {folder_.write("mnist.npz", zip_archive(members, true))});
  EXPECT_EQ(find_reader("npy").open(request)->size(), 2);
  request.part = Part::test;
  EXPECT_THAT(all_u8(*find_reader("npy").open(request)), ElementsAre('e', 'f'));
}

TEST_F(Npy, ArraysAreFoundByNameOrShapeOrNamed) {
  EXPECT_EQ(open({{"Images", four_bytes_}, {"Labels", two_}})->size(), 2);
  EXPECT_EQ(open({{"a", two_}, {"b", four_bytes_}})->format().shape, Shape{2});
  EXPECT_EQ(open({{"x", two_}, {"y", two_}, {"z", four_bytes_}}, "features = 'z'\nlabels = 'x'")->format().shape, Shape{2});
  EXPECT_THAT(thrown_error([&] {
                open({{"a", two_}, {"b", four_bytes_}, {"c", two_}});
              }),
              AllOf(HasSubstr("which array has the samples?"), HasSubstr("data.features = "), HasSubstr("a (uint8, 2), b (uint8, 2x2)")));
  EXPECT_THAT(thrown_error([&] { open({{"x", two_}, {"y", two_}}, "labels = 'why'"); }), HasSubstr("labels is 'why'"));
}

TEST_F(Npy, FilesOfOneArrayComeInPairsOrFolders) {
  const auto x = folder_.write("x.npy", four_bytes_), y = folder_.write("y.npy", two_);
  for (const std::vector<std::filesystem::path>& files : {std::vector{x, y}, {y, x}, {folder_.path()}})
    EXPECT_THAT(all_u8(*open_with("npy", files)), ElementsAre('a', 'b', 'c', 'd'));
  EXPECT_THAT(thrown_error([&] { open_with("npy", {x}); }), HasSubstr("x.npy: a .npy file without its labels"));
}

TEST_F(Npy, WhatCannotBeTrainedOnIsNamed) {
  const auto failure = [&](const std::string& file) { return thrown_error([&] { open_features(file); }); };
  EXPECT_THAT(failure(npy_file("|O", {2}, "??")), HasSubstr("Python objects"));
  EXPECT_THAT(failure(npy_file("<c16", {2}, "??")), HasSubstr("values of type '<c16'"));
  EXPECT_THAT(failure(npy_file("<f4", {2, 1}, bytes_of<float>({1, NAN}))),
              HasSubstr("array 'x': expected finite numbers, found nan in sample 1"));
  EXPECT_THAT(failure(npy_file("|u1", {2, 1, 1, 1, 1}, "ab")), HasSubstr("a sample has 4 axes"));
  EXPECT_THAT(failure(npy_file("|u1", {2, 3}, "abc")), HasSubstr("expected 6 bytes of values (uint8, 2x3)"));
  EXPECT_THAT(failure(npy_file("|u1", {std::int64_t{1} << 40, std::int64_t{1} << 40}, "")), HasSubstr("more than a file can hold"));
  EXPECT_THAT(failure(npy_file("|u1", {0, 3}, "")), HasSubstr("expected samples of numbers, found uint8, 0x3"));
}

}  // namespace
}  // namespace trireme::data
