// SPDX-License-Identifier: Apache-2.0
// The control group that limits the memory of this process and of the nodes it starts, and what the kernel did for its sake.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace trireme::cluster {

struct MemoryGroup {
  std::string limit_file;  // where the limit stands, for the user who wants to raise it
  std::int64_t limit = 0;  // bytes
  std::int64_t peak = 0;   // bytes; 0: this kernel does not say
  std::int64_t kills = 0;  // processes that the kernel ended for want of memory
};

// The contents of a file; none if it can't be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

// The nearest one that has a limit; none: nothing but the machine limits this process.
std::optional<MemoryGroup> memory_group(const ReadFile& read);
std::optional<MemoryGroup> memory_group();

// "out of memory: the limit is 600.0 MiB (FILE), the peak was 598.2 MiB"
std::string out_of_memory_text(const MemoryGroup& group);

}  // namespace trireme::cluster
