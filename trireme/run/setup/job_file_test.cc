// SPDX-License-Identifier: Apache-2.0
// Paths of a job file are relative to it.
#include "trireme/run/setup/job_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "trireme/base/files.h"

namespace trireme::run {
namespace {

TEST(JobFile, FilesPatternsAndTablesAreRelativeToIt) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "trireme_job_file";
  make_directories(folder);
  write_file_atomically(
      folder / "job.toml",
      "[data]\nreader = 'image_table'\npath = '../photos/*/'\ntest = ['held out']\ntable = 'a.csv'\ntest_table = ['b.csv']\n");
  const Config job = load_job((folder / "job.toml").string(), {"data.table=/c.csv"});
  const Config& data = job.at("data");
  EXPECT_EQ(data.at("train").text(), (folder.parent_path() / "photos/*/").string());
  EXPECT_EQ(data.at("test").list().front().text(), (folder / "held out").string());
  EXPECT_EQ(data.at("table").text(), "/c.csv");
  EXPECT_EQ(data.at("test_table").list().front().text(), (folder / "b.csv").string());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace trireme::run
