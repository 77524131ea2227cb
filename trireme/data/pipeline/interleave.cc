// SPDX-License-Identifier: Apache-2.0
// Walks over several files as a ring: one sample of each in turn, finished files drop out.
#include "trireme/data/pipeline/interleave.h"

#include <algorithm>

namespace trireme::data {
namespace {

struct OpenFile {
  std::int64_t next = 0, end = 0;
  bool open = false;
};

}  // namespace

std::vector<std::int64_t> interleaved_order(const std::vector<std::int64_t>& file_starts, std::int64_t samples, std::int64_t files) {
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(samples));
  std::vector<OpenFile> ring(std::clamp<std::size_t>(static_cast<std::size_t>(files), 1, std::max<std::size_t>(file_starts.size(), 1)));
  std::size_t unopened = 0;
  for (std::size_t turn = 0; static_cast<std::int64_t>(order.size()) < samples; turn = (turn + 1) % ring.size()) {
    OpenFile& file = ring[turn];
    if (!file.open && unopened < file_starts.size()) {
      const std::size_t number = unopened++;
      file = {.next = file_starts[number], .end = number + 1 < file_starts.size() ? file_starts[number + 1] : samples, .open = true};
    }
    if (file.next < file.end) {
      order.push_back(file.next++);
    } else {
      file.open = false;
    }
  }
  return order;
}

}  // namespace trireme::data
