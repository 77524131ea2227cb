// SPDX-License-Identifier: Apache-2.0
// Every job file of the project can be read, and its model fits its data as far as that can be seen without them.
#include <gtest/gtest.h>

#include <filesystem>

#include "trireme/base/files.h"
#include "trireme/experiment/experiment.h"
#include "trireme/run/setup/data_lookup.h"
#include "trireme/run/setup/job_file.h"
#include "trireme/train/job/job.h"

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
    Config config = run::load_job(file.string(), {});
    if (config.find("compare") != nullptr) {
      EXPECT_NO_THROW(experiment::read_experiment({file.string()}, {})) << file;
      continue;
    }
    if (const fetch::SetEntry* set = run::public_set(config)) run::name_files(config, *set, "/data");
    EXPECT_NO_THROW(train::check_job(config)) << file;
    EXPECT_FALSE(train::settings_of(config).empty()) << file;
  }
}

// Pages show tables one at a time; what a job needs beside them is added.
std::string completed(std::string sample) {
  if (sample.starts_with("model = ")) return sample;  // names before the first table: a whole job
  if (sample.find("[model]") == std::string::npos) sample += "\n[model]\nname = 'mnist_cnn'\n";
  if (sample.find("[data]") == std::string::npos) sample += "\n[data]\nname = 'synthetic_digits'\nvalidation = 0.1\n";
  return sample;
}

void check_sample(const std::string& sample, const std::string& path) {
  Config config = Config::parse_toml(completed(sample), path);
  run::apply_settings(config, {});
  if (const fetch::SetEntry* set = run::public_set(config)) run::name_files(config, *set, "/data");
  EXPECT_NO_THROW(train::check_job(config)) << path << ":\n" << sample;
}

int check_samples(const std::string& path) {
  const std::string page = read_file(path);
  const std::string fence = "```toml\n";
  int samples = 0;
  for (auto begin = page.find(fence); begin != std::string::npos; begin = page.find(fence, begin + 1), ++samples) {
    const auto text = begin + fence.size();
    check_sample(page.substr(text, page.find("```", text) - text), path);
  }
  return samples;
}

TEST(JobFiles, SamplesOfTheDocumentationAreValid) {
  EXPECT_EQ(check_samples("README.md"), 1);
  EXPECT_GE(check_samples("docs/job-file.md"), 5);
}

}  // namespace
}  // namespace trireme::cli
