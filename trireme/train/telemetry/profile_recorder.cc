// SPDX-License-Identifier: Apache-2.0
// Appends nodes' profile lines to their files; a file that can't be written is given up in words.
#include "trireme/train/telemetry/profile_recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::train {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;  // of a node

std::string file_name(std::string node) {
  std::ranges::replace(node, '/', '_');
  return node + ".jsonl";
}

}  // namespace

std::vector<std::string> pieces_of_lines(std::string_view lines) {
  std::vector<std::string> pieces;
  while (!lines.empty()) {
    std::size_t length = lines.size();
    if (length > kPieceBytes) {
      const std::size_t end = lines.rfind('\n', kPieceBytes - 1);
      length = end == std::string_view::npos ? lines.find('\n') : end;
      length = std::min(length, lines.size() - 1) + 1;
    }
    pieces.emplace_back(lines.substr(0, length));
    lines.remove_prefix(length);
  }
  return pieces;
}

ProfileRecorder::ProfileRecorder(const std::filesystem::path& run, std::function<void(const std::string&)> say)
    : folder_(run / "profile"), say_(std::move(say)) {}

void ProfileRecorder::on_profile(const std::string& node, std::string_view lines) {
  std::int64_t& bytes = bytes_[node];
  if (bytes < 0) return;
  bytes += static_cast<std::int64_t>(lines.size());
  if (bytes > kMaxBytes) return give_up(node, fmt::format("it has more than {} MiB", kMaxBytes >> 20));
  try {
    make_directories(folder_);
    OutputFile(folder_ / file_name(node), OutputFile::Mode::append).write(lines);
  } catch (const Error& error) {  // a profile that can't be written must not end the training
    give_up(node, error.what());
  }
}

void ProfileRecorder::give_up(const std::string& node, const std::string& why) {
  bytes_[node] = -1;
  if (say_) say_(fmt::format("the profile of node {} is not complete: {}", node, why));
}

}  // namespace trireme::train
