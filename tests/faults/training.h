// SPDX-License-Identifier: Apache-2.0
// A training under test: `trireme train` with its nodes, here or on hosts, its journals and its memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/faults/history.h"
#include "tests/hosts/test_hosts.h"
#include "trireme/base/process.h"

namespace trireme::tests {

// Waits until `condition` holds; false after `timeout`.
bool await(const std::function<bool()>& condition, std::chrono::milliseconds timeout,
           std::chrono::milliseconds look = std::chrono::milliseconds(20));

struct TrainingSetup {
  int nodes = 3;
  bool on_hosts = false;                           // node k on host k; else all of them on this machine
  std::vector<std::string> settings;               // of the job: "train.epochs=3"
  std::vector<std::string> flags;                  // of `trireme train`: "--min-nodes", "2"
  std::string failpoints;                          // orders, each obeyed once (Scene adds the folder of the marks)
  std::map<std::string, std::string> environment;  // of `trireme train`
  std::vector<std::string> wrapper;                // put before the command: {"faketime", "+1h"}
  std::filesystem::path resume;                    // this run goes on
};

struct PeakMemory {
  std::int64_t bytes = 0;
  std::string whose;  // which process, and of what kind it is
};

class Training {
 public:
  struct Places {
    std::filesystem::path job;
    std::filesystem::path runs;
    std::filesystem::path events;
    std::filesystem::path log;    // what it prints goes there too
    std::filesystem::path marks;  // of obeyed failpoints
    TestHosts* hosts = nullptr;
  };
  Training(TrainingSetup setup, Places places);
  ~Training();  // ends it at once

  std::string text() const;
  pid_t pid() const { return process_->pid(); }  // of `trireme train`
  // A node's process as seen from here; none if it doesn't run.
  std::optional<pid_t> node(int number) const;
  std::vector<pid_t> all_nodes() const;
  // Sends a signal to a node; returns when (seconds since 1970). Throws if it doesn't run.
  double signal_node(int number, int signal) const;

  History history() const { return read_history(places_.events); }
  Standing standing() const { return tests::standing(history()); }
  // Waits until a step was done; false if the training ends before, or after the timeout.
  bool reaches_step(std::int64_t step, std::chrono::seconds timeout = std::chrono::seconds(60)) const;
  // Waits for a later generation whose first step is done.
  bool passes_generation(std::int64_t generation, std::chrono::seconds timeout = std::chrono::seconds(30)) const;
  // When the failpoint with this place in the orders was obeyed; none after the timeout.
  std::optional<double> obeyed(int order, std::chrono::seconds timeout = std::chrono::seconds(60)) const;
  bool is_running() const { return !process_->status(); }
  // Its exit code, or minus the signal that ended it; none after the timeout.
  std::optional<int> wait(std::chrono::seconds timeout = std::chrono::seconds(240));

  std::filesystem::path run() const;             // its run directory
  std::string model() const;                     // bytes of the last checkpoint's tensors
  double accuracy() const;                       // of the last epoch's record, in percent
  PeakMemory peak_memory() const;                // of its largest process so far
  std::vector<std::string> left_behind() const;  // processes, listeners and temporary files, ten seconds after its end
  const Places& places() const { return places_; }

 private:
  void watch_memory();

  TrainingSetup setup_;
  Places places_;
  mutable std::mutex mutex_;
  std::string text_;
  PeakMemory peak_memory_;
  std::unique_ptr<Process> process_;
  std::jthread watcher_;
};

}  // namespace trireme::tests
