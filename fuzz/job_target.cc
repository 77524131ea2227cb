// SPDX-License-Identifier: Apache-2.0
// Fuzzes the job file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/train/job/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  bool is_recording = false;
  try {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    const trireme::Config config = trireme::Config::parse_toml(text, "job.toml");
    trireme::train::job_from_config(config);
    // What a good job is recorded as must be a job again.
    const std::string recorded = trireme::train::job_file_of(trireme::train::settings_of(config));
    is_recording = true;
    trireme::train::job_from_config(trireme::Config::parse_toml(recorded, "recorded.toml"));
  } catch (const trireme::Error& error) {  // what a bad input should lead to, but not a recorded one
    if (!is_recording) return 0;
    std::fprintf(stderr, "the recorded job is refused: %s\n", error.what());
    std::abort();
  }
  return 0;
}
