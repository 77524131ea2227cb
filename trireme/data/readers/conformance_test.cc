// SPDX-License-Identifier: Apache-2.0
// The conformance suite: every reader of the catalogue on its example, whole and damaged in every way.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include "trireme/base/random.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/data/testing/reader.h"

namespace trireme::data {
namespace {

constexpr std::size_t kAllLengths = 400;     // a file up to this size is cut at every byte
constexpr std::size_t kHeader = 128;         // of a larger one these are all cut ...
constexpr std::size_t kSpreadLengths = 172;  // ... and so many more, evenly spaced
constexpr int kFlips = 300;

class ReaderConformance : public testing::TestWithParam<ReaderEntry> {
 protected:
  ReaderConformance() : request_(GetParam().example(folder_.path())) {}

  std::unique_ptr<Source> open() const { return GetParam().open(request_); }

  // A reader may find damage when it opens the files or, where it could not see it then, when it reads the sample.
  std::string failure() const {
    return thrown_error([&] { all_bytes(*open()); });
  }

  // What a damage test may change: the files of the request, those of folders included.
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> files;
    for (const std::filesystem::path& path : request_.files) {
      if (!std::filesystem::is_directory(path)) {
        files.push_back(path);
        continue;
      }
      for (const auto& inside : std::filesystem::recursive_directory_iterator(path))
        if (inside.is_regular_file()) files.push_back(inside.path());
    }
    std::ranges::sort(files);
    return files;
  }

  static bool always_found() { return GetParam().damage == Damage::always_found; }

  ScratchFolder folder_;
  ReaderRequest request_;
};

void overwrite(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::remove(path);  // a new file: some file systems flush one that is shortened and filled again
  ASSERT_TRUE(std::ofstream(path, std::ios::binary) << content);
}

std::set<std::size_t> lengths_to_cut(std::size_t size) {
  std::set<std::size_t> lengths;
  for (std::size_t n = 0; n < std::min(size, size <= kAllLengths ? kAllLengths : kHeader); ++n) lengths.insert(n);
  for (std::size_t i = 0; size > kAllLengths && i < kSpreadLengths; ++i) lengths.insert(size * i / kSpreadLengths);
  if (size > 0) lengths.insert(size - 1);
  return lengths;
}

bool names(const std::string& failure, const std::filesystem::path& file) {
  return failure.find(file.filename().string()) != std::string::npos;
}

// Errors are welcome, anything else a damaged file leads to is not.
void expect_clean(const std::string& failure, const std::string& what) {
  EXPECT_TRUE(failure == "no error" || failure.starts_with("data_loss: ") || failure.starts_with("invalid_argument: ") ||
              failure.starts_with("not_found: ") || failure.starts_with("unimplemented: ") || failure.starts_with("resource_exhausted: "))
      << what << ": " << failure;
}

TEST_P(ReaderConformance, ItsExampleIsASaneSet) {
  const std::unique_ptr<Source> source = open();
  const SampleFormat& format = source->format();
  EXPECT_GE(source->size(), 2);
  EXPECT_GE(format.shape.rank(), 1U);
  EXPECT_LE(format.shape.rank(), 3U);
  for (const std::int64_t extent : format.shape) EXPECT_GE(extent, 1);
  EXPECT_NE(format.classes > 0, format.targets > 0) << "classes or targets";
  EXPECT_TRUE(format.class_names.empty() || format.class_names.size() == static_cast<std::size_t>(format.classes));
  for (std::int64_t i = 0; i < source->size(); ++i) {
    EXPECT_GE(source->label(i), 0);
    EXPECT_LT(source->label(i), std::max<std::int64_t>(format.classes, 1));
    EXPECT_EQ(source->target(i).size(), static_cast<std::size_t>(format.targets));
    EXPECT_FALSE(source->sample_name(i).empty());
  }
  const std::vector<std::byte> values = all_bytes(*source);
  EXPECT_FALSE(std::ranges::all_of(values, [&](std::byte b) { return b == values[0]; })) << "an example all of one value shows nothing";
}

TEST_P(ReaderConformance, ItsFilesBeginInOrder) {
  const std::unique_ptr<Source> source = open();
  const std::vector<std::int64_t> starts = source->file_starts();
  ASSERT_FALSE(starts.empty());
  EXPECT_EQ(starts.front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(starts));
  EXPECT_LE(starts.back(), source->size());
}

TEST_P(ReaderConformance, ASecondOpeningAndTwoThreadsReadTheSame) {
  const std::unique_ptr<Source> source = open();
  const std::vector<std::byte> expected = all_bytes(*open());
  std::vector<std::byte> first, second;
  std::thread other([&] {
    for (int round = 0; round < 10; ++round) second = all_bytes(*source);
  });
  for (int round = 0; round < 10; ++round) first = all_bytes(*source);
  other.join();
  EXPECT_EQ(first, expected);
  EXPECT_EQ(second, expected);
}

TEST_P(ReaderConformance, EveryTruncationIsRefused) {
  for (const std::filesystem::path& file : files()) {
    const std::string whole = read_file(file);
    for (const std::size_t length : lengths_to_cut(whole.size())) {
      overwrite(file, std::string_view(whole).substr(0, length));
      const std::string what = fmt::format("{} cut to {} of {} bytes", file.filename().string(), length, whole.size());
      const std::string found = failure();
      expect_clean(found, what);
      EXPECT_TRUE(!always_found() || names(found, file)) << what << ": " << found;
    }
    overwrite(file, whole);
  }
  EXPECT_EQ(failure(), "no error");
}

TEST_P(ReaderConformance, AnEmptyFileIsRefused) {
  for (const std::filesystem::path& file : files()) {
    const std::string whole = read_file(file);
    overwrite(file, "");
    const std::string found = failure();
    expect_clean(found, file.filename().string());
    EXPECT_TRUE(names(found, file)) << found;
    overwrite(file, whole);
  }
}

TEST_P(ReaderConformance, GarbageAfterTheEndDoesNoHarm) {
  for (const std::filesystem::path& file : files()) {
    const std::string whole = read_file(file);
    for (const std::size_t extra : {1, 3, 100, 5000}) {
      std::string longer = whole;
      RandomStream random(extra);
      for (std::size_t i = 0; i < extra; ++i) longer += static_cast<char>(random.below(256));
      overwrite(file, longer);
      expect_clean(failure(), fmt::format("{} with {} bytes of garbage", file.filename().string(), extra));
    }
    overwrite(file, whole);
  }
}

TEST_P(ReaderConformance, AMissingFileIsNamed) {
  for (const std::filesystem::path& path : request_.files) {
    const std::filesystem::path aside = path.string() + ".aside";
    std::filesystem::rename(path, aside);
    const std::string found = failure();
    EXPECT_TRUE(found.starts_with("not_found: ")) << found;
    EXPECT_TRUE(found.find(path.string()) != std::string::npos) << found;
    std::filesystem::rename(aside, path);
  }
}

TEST_P(ReaderConformance, FlippedBitsNeverCrash) {
  const std::vector<std::filesystem::path> all = files();
  if (all.empty()) return;  // a synthetic set
  RandomStream random(hash_text(GetParam().name));
  for (int round = 0; round < kFlips; ++round) {
    const std::filesystem::path& file = all[random.below(all.size())];
    const std::string whole = read_file(file);
    if (whole.empty()) continue;
    std::string flipped = whole;
    // Half of them near the front, where counts and lengths are.
    const std::size_t at = random.below(round % 2 == 0 ? whole.size() : std::min<std::size_t>(whole.size(), 64));
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << random.below(8)));
    overwrite(file, flipped);
    expect_clean(failure(), fmt::format("round {}: {} with a bit flipped in byte {}", round, file.filename().string(), at));
    overwrite(file, whole);
  }
}

TEST_P(ReaderConformance, ItsOptionsCanBeListedAndHaveDefaults) {
  std::any options = GetParam().options.defaults();
  OptionLister lister;
  GetParam().options.visit(options, lister);
  for (const OptionRow& row : lister.rows) EXPECT_FALSE(row.help.empty()) << row.name;
  EXPECT_FALSE(GetParam().summary.empty());
}

TEST_P(ReaderConformance, ReadersOfFilesSayThatTheyNeedThem) {
  EXPECT_EQ(GetParam().reads_files, !request_.files.empty());
  if (!GetParam().reads_files) return;
  request_.files.clear();
  EXPECT_TRUE(failure().starts_with("invalid_argument: ")) << failure();
}

INSTANTIATE_TEST_SUITE_P(Catalog, ReaderConformance, testing::ValuesIn(readers::catalog()),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace trireme::data
