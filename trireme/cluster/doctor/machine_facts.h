// SPDX-License-Identifier: Apache-2.0
// What a machine finds out about itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace trireme::cluster {

struct MachineFacts {
  std::string cpu;                // model
  std::int64_t cores = 0;         // logical ones that a process may use
  std::int64_t memory = 0;        // bytes
  std::int64_t free_memory = 0;   // bytes that could be had
  std::int64_t free_disk = 0;     // bytes, where the program lies
  double load = 0;                // processes that wanted to run, over the last minute
  std::string vector_extensions;  // "avx512", "avx2" or "sse": the best that the engine can use
  std::string congestion_control;
  std::string kernel;
};

MachineFacts this_machine(const std::filesystem::path& folder);

std::string to_json(const MachineFacts& facts);
MachineFacts facts_from_json(std::string_view text);  // throws data_loss if it is not what to_json writes

}  // namespace trireme::cluster
