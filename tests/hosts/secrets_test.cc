// SPDX-License-Identifier: Apache-2.0
// Keys that travel over ssh: known to the test from the pipe that carries them, and found nowhere else.
#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>

#include "tests/cluster/secret_search.h"
#include "tests/cluster/training_process.h"
#include "tests/hosts/test_hosts.h"
#include "trireme/base/json.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr std::string_view kJob =
    "[model]\nname = \"mlp_128\"\n[data]\nname = \"synthetic_digits\"\nsamples = 2000\ntest_samples = 200\n[train]\nepochs = 100000\n"
    "batch_size = 100\ncheckpoint_seconds = 0.2\n";

struct SecretsOnHosts : TrainingFolder {
  SecretsOnHosts() {
    write_file_atomically(folder_ / "job.toml", kJob);
    write_file_atomically(folder_ / "bin/ssh",
                          fmt::format("#!/bin/sh\ntee {}/heard.$$ | /usr/bin/ssh \"$@\"\n", (folder_ / "bin").string()));
    fs::permissions(folder_ / "bin/ssh", fs::perms::owner_all);
    ::setenv("PATH", fmt::format("{}:{}", (folder_ / "bin").string(), path).c_str(), 1);
  }
  ~SecretsOnHosts() override { ::setenv("PATH", path.c_str(), 1); }

  // Each node's keys, as they went through ssh.
  std::vector<std::string> heard() const {
    std::vector<std::string> secrets;
    for (const auto& file : fs::directory_iterator(folder_ / "bin")) {
      const std::string text = read_file(file.path());
      const std::size_t key_at = text.find("\"private_key\"");
      if (key_at == std::string::npos) continue;
      const std::size_t begin = text.rfind('\n', key_at) + 1;  // 0 in the first line
      const auto line = parse_json(std::string_view(text).substr(begin, text.find('\n', key_at) - begin));
      secrets.push_back(line.at("job_key"));
      const std::string key = line.at("private_key");
      secrets.push_back(key.substr(key.find('\n') + 1, 60));  // the first line of its base64
    }
    return secrets;
  }

  std::string path = std::getenv("PATH");
};

TEST_F(SecretsOnHosts, AreNotVisibleToOthers) {
  const TestHosts hosts(2);
  TrainingProcess training({(folder_ / "job.toml").string(), "--runs", (folder_ / "runs").string(), "--cluster",
                            hosts.cluster_file().string(), "--threads", "1"});
  ASSERT_TRUE(wait_until([&] { return steps("runs") > 20; }, seconds(90))) << training.text();
  const std::vector<std::string> secrets = heard();
  ASSERT_EQ(secrets.size(), 4U) << "a key and a private key for each of two nodes";
  Search search(secrets);
  search.look_at_processes();
  training.signal(SIGINT);
  EXPECT_EQ(training.wait(), 130) << training.text();
  search.look_at("what it printed", training.text());
  for (const fs::path& folder : {folder_ / "runs", folder_ / "cache", hosts.home(0), hosts.home(1)})
    if (fs::exists(folder)) search.look_at_files(folder);
  EXPECT_THAT(search.found(), testing::IsEmpty());
  EXPECT_GT(search.looked_at(), 20);
}

}  // namespace
}  // namespace trireme::tests
