// SPDX-License-Identifier: Apache-2.0
// A file written piece by piece, compressed on the way, that appears under its name only when it is complete.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "trireme/data/formats/decoder.h"

namespace trireme::data {

class OutputFile {
 public:
  // Opens a temporary name beside `path`; `compression` may be none, gzip or zlib.
  OutputFile(const std::filesystem::path& path, Compression compression);
  ~OutputFile();  // removes the temporary file unless publish() was called
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  void write(std::string_view bytes);
  void close();    // ends the compression and syncs the file to the disk
  void publish();  // renames the closed file to its own name

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::data
