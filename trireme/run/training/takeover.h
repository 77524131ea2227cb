// SPDX-License-Identifier: Apache-2.0
// What the next coordinator of a run needs if this one dies without a word, while its nodes wait for one that takes over.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trireme::run {

// Holds the job's secret: only its owner may read the file, and it is removed when the run ends in good order.
struct Takeover {
  std::string secret;
  int port = 0;
  std::string launcher;
  std::vector<std::string> addresses;  // that the coordinator listens on
  std::vector<std::string> nodes;

  // Is there for as long as this object, or for ever if the process dies. None: the run's nodes end with it.
  class File {
   public:
    File() = default;
    File(std::filesystem::path path, const Takeover& takeover);
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;

   private:
    std::filesystem::path path_;
  };
};

std::filesystem::path takeover_file(const std::filesystem::path& run);
// None if the run ended in good order, or never had nodes; throws data_loss for a file that is no such thing.
std::optional<Takeover> read_takeover(const std::filesystem::path& file);

}  // namespace trireme::run
