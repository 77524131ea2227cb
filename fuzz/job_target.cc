// SPDX-License-Identifier: Apache-2.0
// Fuzzes the job file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/train/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    trireme::train::job_from_config(trireme::Config::parse_toml(text, "job.toml"));
  } catch (const trireme::Error&) {  // what a bad input should lead to
  }
  return 0;
}
