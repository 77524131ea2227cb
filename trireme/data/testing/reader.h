// SPDX-License-Identifier: Apache-2.0
// For tests of readers: a folder that vanishes, a reader with options as a job file gives them, and all values of a source.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/files.h"
#include "trireme/data/formats/reader_entry.h"

namespace trireme::data {

class ScratchFolder {
 public:
  ScratchFolder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("trireme_") + test->test_suite_name() + "_" + test->name() + "_" + std::to_string(::getpid());
    for (char& c : name) c = c == '/' ? '_' : c;
    path_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(std::string_view name, std::string_view content) const {
    // Not atomically: tests write hundreds of files, and each would wait for the disk.
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline ReaderRequest request_of(std::string_view reader, std::vector<std::filesystem::path> files, std::string_view toml = "") {
  const ReaderEntry& entry = find_reader(reader);
  const Config table = Config::parse_toml(toml, "options");
  ReaderRequest request{.files = std::move(files), .options = entry.options.defaults()};
  OptionReader options(table, "data");
  entry.options.visit(request.options, options);
  options.finish();
  return request;
}

inline std::unique_ptr<Source> open_with(std::string_view reader, std::vector<std::filesystem::path> files, std::string_view toml = "") {
  return find_reader(reader).open(request_of(reader, std::move(files), toml));
}

// The stored bytes of all samples, one after another.
inline std::vector<std::byte> all_bytes(const Source& source) {
  const std::size_t extent = source.format().sample_bytes();
  std::vector<std::byte> bytes(static_cast<std::size_t>(source.size()) * extent);
  for (std::int64_t i = 0; i < source.size(); ++i) source.read(i, std::span(bytes).subspan(static_cast<std::size_t>(i) * extent, extent));
  return bytes;
}

inline std::vector<int> all_u8(const Source& source) {
  std::vector<int> values;
  for (const std::byte b : all_bytes(source)) values.push_back(std::to_integer<int>(b));
  return values;
}

inline std::vector<float> all_f32(const Source& source) {
  const std::vector<std::byte> bytes = all_bytes(source);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(values.data()));
  return values;
}

inline std::vector<int> all_labels(const Source& source) {
  std::vector<int> labels;
  for (std::int64_t i = 0; i < source.size(); ++i) labels.push_back(source.label(i));
  return labels;
}

}  // namespace trireme::data
