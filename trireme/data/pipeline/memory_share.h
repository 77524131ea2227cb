// SPDX-License-Identifier: Apache-2.0
// How much memory this process may still take before the kernel kills a process for it: the machine's, its control groups', its neighbours'
// share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace trireme::data {

// The text of a file, none if there is no such file.
using ReadText = std::function<std::optional<std::string>(const std::string& path)>;

struct MemoryRoom {
  std::size_t bytes = 0;
  std::string limit;  // what sets it: "this machine has", or the file of a control group
};

// The smallest of /proc/meminfo's MemAvailable and, for each memory group (v1 or v2) from this process's up to the highest that can be
// seen, its limit less what it can't give back. A container or Slurm limits a group, and the machine's own figure knows nothing of it.
MemoryRoom memory_room(const ReadText& read);

// The part that each of `nodes` on this machine may take: they start at the same time and would all see the same room. `held` is what
// the others hold already, which is their part of it: a node that is started again must not be refused for what they took.
// A tenth is left for what is no cache.
std::size_t share_of(std::size_t room, std::size_t held, std::int64_t nodes);

// What the caches of one process may take together. Memory is granted long before it is used, so what was granted is remembered here.
class MemoryBudget {
 public:
  explicit MemoryBudget(MemoryRoom room) : room_(std::move(room)) {}
  // resource_exhausted, with the limit and what to do, if it is not there.
  void take(std::size_t bytes, std::int64_t samples);

 private:
  MemoryRoom room_;
};

// Of this process now: what one of `nodes` may take. Others are seen if the same process started them (all launchers but ssh).
MemoryRoom memory_share(std::int64_t nodes);

}  // namespace trireme::data
