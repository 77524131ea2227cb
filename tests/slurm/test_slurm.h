// SPDX-License-Identifier: Apache-2.0
// A real Slurm of a few machines that are all this one: controller, daemons and munge in a network of their own.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/process.h"

namespace trireme::tests {

struct TestSlurmOptions {
  int machines = 3;                     // n1, n2 ... with two CPUs each
  std::filesystem::path hidden_folder;  // not empty: the last machine finds this folder empty, as if the disk were not shared
};

// Needs root. The calling thread, and all that it starts from then on, moves into new network, host name and mount namespaces, which
// lead nowhere, so that neither ports nor names meet those of this machine. One a process.
class TestSlurm {
 public:
  TestSlurm(std::filesystem::path folder, TestSlurmOptions options = {});
  ~TestSlurm();  // cancels all jobs, then ends the daemons
  TestSlurm(const TestSlurm&) = delete;
  TestSlurm& operator=(const TestSlurm&) = delete;

  // The output of a client program of Slurm; throws if it fails.
  std::string ask(const std::vector<std::string>& command) const;
  // Hands `script` in, from `folder`; more are options of sbatch. The job's number.
  std::string submit(const std::filesystem::path& script, const std::filesystem::path& folder,
                     const std::vector<std::string>& more = {}) const;

  // "JobState", "ExitCode", "Restarts" ... as scontrol shows them.
  std::map<std::string, std::string> job(const std::string& id) const;
  bool wait_for_job(const std::string& id, const std::function<bool(const std::map<std::string, std::string>&)>& condition,
                    std::chrono::seconds timeout) const;
  // Until it is over, however it ended.
  bool wait_for_end(const std::string& id, std::chrono::seconds timeout) const;
  // The daemon of a machine (0, 1 ...) dies without a word.
  void kill_daemon(int machine);

 private:
  void write_configuration() const;
  void start(const std::string& name, std::vector<std::string> command);
  void await_idle() const;
  std::string log(const std::string& name) const;

  std::filesystem::path folder_;
  TestSlurmOptions options_;
  std::map<std::string, std::unique_ptr<Process>> daemons_;
};

}  // namespace trireme::tests
