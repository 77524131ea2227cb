// SPDX-License-Identifier: Apache-2.0
// Several workers as threads of one test, over real sockets.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/rpc/authority.h"
#include "trireme/train/loop/trainer.h"
#include "trireme/train/testing/job.h"

namespace trireme::train {

// Without batch-norm and dropout. 330 samples in batches of 64: the last one has 10, which 3 and 5 workers can't divide evenly.
inline constexpr std::string_view kTeamJob = R"(
[model]
name = "mlp_300_100"
[data]
name = "synthetic_digits"
samples = 330
test_samples = 101
[train]
epochs = 9
batch_size = 64
threads = 1
[train.optimizer]
name = "sgd"
learning_rate = 0.05
momentum = 0.9
)";

inline Job team_job(const std::vector<std::string>& settings) { return job_with(kTeamJob, settings); }

class ScaledClock final : public Clock {
 public:
  explicit ScaledClock(double factor) : factor_(factor) {}
  Seconds now() const override { return factor_ * clock_.now(); }

 private:
  double factor_;
  SteadyClock clock_;
};

struct TemporaryFolder {
  TemporaryFolder() : path(std::filesystem::path(testing::TempDir()) / fmt::format("team_test_{}_{}", getpid(), static_cast<void*>(this))) {
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path path;
};

// What a worker has at the end.
struct Trained {
  std::vector<float> parameters;
  Memory memory;
  Checkpoint checkpoint;
  std::vector<double> shares;
};

// A worker's way through the training; the default is to the end.
using Drive = std::function<void(Trainer&, Observer&, int rank)>;
inline void to_the_end(Trainer& trainer, Observer& observer, int) { run_to_end(trainer, observer); }

struct Cluster {
  explicit Cluster(const std::vector<std::string>& settings = {})
      : job(team_job(settings)), data(data::open_data(job.data, testing::TempDir())) {}

  Trained worker(comm::Store& store, int rank, int size, const Drive& drive) const {
    const ScaledClock own_clock(1 + slowness * rank);
    Trainer trainer({.job = job, .data = data, .clock = own_clock, .team_follows = true, .events = events}, cache());
    {
      // As nodes of one machine do: one after another, each using what the one before has found.
      const std::lock_guard in_turn(compiling);
      trainer.prepare(rank, size);
    }
    trainer.enter(meet({.store = store, .rank = rank, .size = size}));
    Trained out;
    drive(trainer, out.memory, rank);
    out.parameters.assign(trainer.replica().parameters().begin(), trainer.replica().parameters().end());
    out.checkpoint = trainer.checkpoint();
    out.shares = trainer.team().shares;
    return out;
  }

  struct Meeting {
    comm::Store& store;  // another one for each generation
    int rank, size;
    std::uint64_t generation = 1;
    std::vector<std::string> nodes = {};  // names; else ranks
    std::shared_ptr<const comm::Cancellation> cancellation = {};
  };
  Team meet(Meeting meeting) const {
    for (int i = static_cast<int>(meeting.nodes.size()); i < meeting.size; ++i) meeting.nodes.push_back(fmt::format("{}", i));
    const comm::Group group{.rank = meeting.rank,
                            .size = meeting.size,
                            .generation = meeting.generation,
                            .address = "127.0.0.1",
                            .key = "a key of this test's own",
                            .cancellation = meeting.cancellation};
    const rpc::Identity identity{.role = "node", .name = meeting.nodes[static_cast<std::size_t>(meeting.rank)]};
    return {comm::Communicator::connect(meeting.store, group, Seconds(20)),
            Seconds(20),
            meeting.generation,
            {.nodes = std::move(meeting.nodes),
             .store = &meeting.store,
             .address = "127.0.0.1",
             .credentials = authority.issue(identity, {"127.0.0.1"}, Seconds(3600)),
             .cancellation = std::move(meeting.cancellation)}};
  }

  // One thread a worker, over real sockets.
  std::vector<Trained> train(int size, const Drive& drive = to_the_end) const {
    comm::MemoryStore store;
    std::vector<Trained> out(static_cast<std::size_t>(size));
    std::vector<std::exception_ptr> errors(out.size());
    {
      std::vector<std::jthread> threads;
      for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
          try {
            out[static_cast<std::size_t>(rank)] = worker(store, rank, size, drive);
          } catch (...) {
            errors[static_cast<std::size_t>(rank)] = std::current_exception();
          }
        });
    }
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
    return out;
  }

  Trained alone() const {
    Trainer trainer({.job = job, .data = data, .clock = clock}, cache());
    Trained out;
    run_to_end(trainer, out.memory);
    out.parameters.assign(trainer.replica().parameters().begin(), trainer.replica().parameters().end());
    return out;
  }

  // The engine chooses algorithms by timing, and another choice rounds otherwise.
  std::filesystem::path cache() const { return folder.path / "algorithms.json"; }

  Job job;
  data::DataSets data;
  SteadyClock clock;
  PushEvents events;
  double slowness = 0;  // worker r seems to compute 1 + slowness * r times as slowly
  TemporaryFolder folder;
  rpc::Authority authority = rpc::Authority::create();
  mutable std::mutex compiling;
};

// |a - b| / |b| as vectors.
inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double length = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    length += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / length);
}

}  // namespace trireme::train
