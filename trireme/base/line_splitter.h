// SPDX-License-Identifier: Apache-2.0
// Cuts a stream of bytes into lines.
#pragma once

#include <string>
#include <string_view>

namespace trireme {

class LineSplitter {
 public:
  template <class OnLine>
  void add(std::string_view bytes, OnLine on_line) {
    for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
      pending_ += bytes.substr(0, end);
      deliver(on_line);
      bytes.remove_prefix(end + 1);
    }
    pending_ += bytes;
    if (pending_.size() >= kLongest) deliver(on_line);
  }

  // The last line may lack its end.
  template <class OnLine>
  void finish(OnLine on_line) {
    if (!pending_.empty()) deliver(on_line);
  }

 private:
  static constexpr std::size_t kLongest = 64 << 10;  // longer lines come in pieces, so that memory stays bounded

  template <class OnLine>
  void deliver(OnLine on_line) {
    std::string_view line = pending_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    on_line(line);
    pending_.clear();
  }

  std::string pending_;
};

}  // namespace trireme
