// SPDX-License-Identifier: Apache-2.0
// Every job file of the project can be read, and its model fits its data as far as that can be seen without them.
#include <gtest/gtest.h>

#include <filesystem>

#include "trireme/cli/data_lookup.h"
#include "trireme/cli/job_file.h"
#include "trireme/train/job.h"

namespace trireme::cli {
namespace {

std::vector<std::filesystem::path> job_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"examples", "experiments"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
  }
  return files;
}

TEST(JobFiles, AreAllValid) {
  const auto files = job_files();
  ASSERT_GE(files.size(), 10U);
  for (const auto& file : files) {
    Config config = load_job(file.string(), {});
    if (const fetch::SetEntry* set = public_set(config)) name_files(config, *set, "/data");
    EXPECT_NO_THROW(train::job_from_config(config)) << file;
    EXPECT_FALSE(train::settings_of(config).empty()) << file;
  }
}

}  // namespace
}  // namespace trireme::cli
