// SPDX-License-Identifier: Apache-2.0
// Workers without a coordinator: no TLS, no heartbeats, no journals; what all of that costs is the difference to `trireme train -n`.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/comm/folder_store.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/train/job/job.h"
#include "trireme/train/loop/trainer.h"

namespace trireme {
namespace {

// Seconds of each step after the first ones.
class Steps final : public train::Observer {
 public:
  void step(const train::StepRecord& record) override {
    constexpr std::int64_t kWarmUp = 5;
    if (record.step > kWarmUp) seconds_.push_back(record.seconds);
    samples_ = record.batch.samples;
  }
  double best_rate() const { return static_cast<double>(samples_) / *std::ranges::min_element(seconds_); }
  double median_rate() {
    std::ranges::nth_element(seconds_, seconds_.begin() + std::ssize(seconds_) / 2);
    return static_cast<double>(samples_) / seconds_[seconds_.size() / 2];
  }

 private:
  std::vector<double> seconds_;
  std::int64_t samples_ = 0;
};

struct Settings {
  std::filesystem::path job;
  std::filesystem::path folder;  // where the workers meet
  int workers = 2;
  bool encrypt = false;
};

int work(const Settings& settings, int rank) {
  const auto& [job_file, folder, size, encrypt] = settings;
  Config config = Config::parse_toml(read_file(job_file), job_file.string());
  config.set("train.threads", "1", "this benchmark");
  const train::Job job = train::job_from_config(config);
  const data::DataSets data = data::open_data(job.data, folder);
  const SteadyClock clock;
  train::Trainer trainer({.job = job, .data = data, .clock = clock, .team_follows = true}, folder / "algorithms.json");
  comm::FolderStore store(folder / "store");
  // One after another, as nodes of one machine do.
  if (rank > 0) store.get(fmt::format("compiled/{}", rank - 1), Seconds(300));
  trainer.prepare(rank, size);
  store.set(fmt::format("compiled/{}", rank), "yes");
  const comm::Group group{.rank = rank,
                          .size = size,
                          .generation = 1,
                          .address = "127.0.0.1",
                          .key = "a key of this benchmark's own",
                          .encryption = encrypt ? comm::Encryption::always : comm::Encryption::never};
  trainer.enter(train::Team(comm::Communicator::connect(store, group, Seconds(60)), Seconds(60)));
  Steps steps;
  train::run_to_end(trainer, steps);
  if (rank == 0) fmt::print("best {:.2f}\n{:.2f}\n", steps.best_rate(), steps.median_rate());
  return 0;
}

int run(const Settings& settings) {
  make_directories(settings.folder / "store");
  std::vector<pid_t> children;
  for (int rank = 0; rank < settings.workers; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      const int code = work(settings, rank);
      std::fflush(stdout);
      ::_exit(code);
    }
    children.push_back(child);
  }
  int failures = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    failures += status != 0 ? 1 : 0;
  }
  return failures;
}

}  // namespace
}  // namespace trireme

int main(int count, char** words) {
  CLI::App app{"samples a second, at the best and at the median step, of workers without a coordinator"};
  trireme::Settings settings;
  app.add_option("job", settings.job, "job file")->required();
  app.add_option("folder", settings.folder, "where the workers meet; empty")->required();
  app.add_option("--workers", settings.workers, "processes with one thread each")->capture_default_str();
  app.add_flag("--encrypt", settings.encrypt, "as between machines; otherwise messages are sealed, as on one machine");
  CLI11_PARSE(app, count, words);
  try {
    return trireme::run(settings);
  } catch (const trireme::Error& error) {
    fmt::print(stderr, "bare_workers: {}\n", error.what());
    return 1;
  }
}
