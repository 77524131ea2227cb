// SPDX-License-Identifier: Apache-2.0
// Reading on where the last look ended, in pieces of a bounded size.
#include "trireme/report/read/line_tail.h"

#include <fstream>
#include <vector>

namespace trireme::report {
namespace {

constexpr std::size_t kPiece = 1 << 20;

}  // namespace

void LineTail::look(const std::function<void(std::string_view line)>& take, const std::function<void()>& restart) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path_, error);
  if (error) return;
  if (size < offset_) {
    offset_ = 0;
    if (restart) restart();
  }
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset_));
  std::vector<char> piece(kPiece);
  std::string rest;
  while (file && file.read(piece.data(), static_cast<std::streamsize>(piece.size())).gcount() > 0) {
    rest.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
      take(std::string_view(rest).substr(begin, end - begin));
      offset_ += end + 1 - begin;
    }
    rest.erase(0, begin);
  }
}

}  // namespace trireme::report
