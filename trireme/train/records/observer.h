// SPDX-License-Identifier: Apache-2.0
// What a training tells whoever watches it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trireme::train {

// Of a whole set of samples.
struct Score {
  std::int64_t samples = 0;  // 0: not measured
  double loss = 0;           // mean data loss
  double accuracy = 0;       // share of samples with the right answer
};

// Steps that changed nothing, since a loss or a gradient was not finite.
struct Skips {
  std::int64_t steps = 0;
  std::vector<int> ranks;  // whose were not; none: each was, and their sum was not
};

struct StepRecord {
  std::int64_t step = 0;          // the first is 1
  std::int64_t epoch = 0;         // the first is 0
  std::int64_t samples_seen = 0;  // since the beginning, this step's included
  std::int64_t samples_total = 0;
  Score batch;       // of this step alone
  Score epoch_mean;  // since the epoch began
  double learning_rate = 0;
  double samples_per_second = 0;  // since the epoch began
  std::int64_t workers = 1;
  double seconds = 0;           // of this step, made of the next four, at the worker that tells
  double wait_seconds = 0;      // for the batch
  double compute_seconds = 0;   // forward, loss, backward
  double exchange_seconds = 0;  // waiting for other workers after backward
  double optimizer_seconds = 0;
  double hidden_seconds = 0;  // exchange that ran behind backward
  // Only of parameter servers: whose push it was (-1: of all workers), and how many updates others had made since it pulled.
  int worker = -1;
  std::int64_t staleness = 0;
  double noise_scale = 0;  // of the gradients, smoothed; 0: not measured in this step
  Skips skips;             // this step; out of step with the others: single workers' parts of it, or of those before it
};

struct EpochRecord {
  std::int64_t epoch = 0;
  Score train;
  double penalty = 0;        // L2 regularisation in the last step
  double learning_rate = 0;  // of the last step
  Score validation;          // after the epoch, if samples are held out for it
  Score test;                // after the epoch, only if there is no validation
  double seconds = 0;        // of training, without the evaluation
  double samples_per_second = 0;
  double wait_seconds = 0;        // of these, for batches
  double background_seconds = 0;  // spent by the pipeline's threads meanwhile
  double exchange_seconds = 0;    // of training, spent waiting for other workers
  double hidden_seconds = 0;      // exchange that ran behind backward
};

// A measurement of the workers' speeds: one that holds the others up, or nobody.
struct StragglerRecord {
  int rank = 0;         // -1: nobody is slow
  double slowness = 1;  // how much longer it takes for a sample than the median of the workers
  double share = 0;     // of a batch that it gets from now on
};

// A worker whose link holds the others up.
struct SlowLinkRecord {
  int rank = 0;
  double bytes_per_second = 0;
  double typical = 0;     // the median worker's
  double wait_share = 0;  // of the steps' time, waited for exchange
};

// A parameter server since its last record.
struct ServerRecord {
  int server = 0;   // its number ...
  int servers = 1;  // ... of so many
  int workers = 1;
  std::int64_t epoch = 0;
  std::int64_t parameter_bytes = 0;  // that it holds
  double imbalance = 1;              // most bytes of a server / mean
  double seconds = 0;
  double busy_seconds = 0;  // with updates, over all its threads
  double held_seconds = 0;  // that answers waited for slower workers
  std::int64_t pushes = 0, dropped = 0;
  std::int64_t bytes_in = 0, bytes_out = 0;
  std::vector<std::int64_t> staleness;  // pushes by the updates that others had made meanwhile; the last: that many or more
  std::int64_t most_ahead = 0;          // pushes by which a worker that went on was ahead of the slowest
  // Only of the first one.
  double wait_share = 0;   // of the workers' time: for servers, not for each other
  int servers_needed = 0;  // so many would keep up with the workers; 0: these do
};

// A switch from one strategy to another, told when the first step of the other begins.
struct SwitchRecord {
  std::int64_t step = 0;  // the last one before
  std::int64_t epoch = 0;
  std::int64_t samples_seen = 0;
  std::string from, to;
  std::string why;
  bool slots_reset = false;
  bool state_was_shared = false;  // every node had all of it already: nothing was sent
  double learning_rate = 0;       // as the schedule has it at this point ...
  double rate_factor_before = 1;  // ... times this
  double rate_factor = 1;
  std::int64_t worker_batch_before = 0, worker_batch = 0;  // samples that a worker computes at once
  std::int64_t workers_before = 0, workers = 0;
  // Without a step, made of the next four.
  double seconds = 0;
  double drain_seconds = 0;  // until all had the same state
  double agree_seconds = 0;  // on the next generation, with all connected
  double state_seconds = 0;  // who has which state, and its way to those who need it
  double begin_seconds = 0;  // of the strategy: servers, streams, work
};

struct CheckpointRecord {
  std::int64_t step = 0;
  std::filesystem::path directory;
  double seconds = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void step(const StepRecord&) {}
  virtual void epoch(const EpochRecord&) {}
  virtual void checkpoint(const CheckpointRecord&) {}
  virtual void test(const Score&) {}
  virtual void straggler(const StragglerRecord&) {}
  virtual void slow_link(const SlowLinkRecord&) {}
  virtual void server(const ServerRecord&) {}
  virtual void switched(const SwitchRecord&) {}
};

// Tells several observers.
class Observers final : public Observer {
 public:
  explicit Observers(std::vector<Observer*> observers) : observers_(std::move(observers)) {}

  void step(const StepRecord& record) override {
    for (Observer* observer : observers_) observer->step(record);
  }
  void epoch(const EpochRecord& record) override {
    for (Observer* observer : observers_) observer->epoch(record);
  }
  void checkpoint(const CheckpointRecord& record) override {
    for (Observer* observer : observers_) observer->checkpoint(record);
  }
  void test(const Score& score) override {
    for (Observer* observer : observers_) observer->test(score);
  }
  void straggler(const StragglerRecord& record) override {
    for (Observer* observer : observers_) observer->straggler(record);
  }
  void slow_link(const SlowLinkRecord& record) override {
    for (Observer* observer : observers_) observer->slow_link(record);
  }
  void server(const ServerRecord& record) override {
    for (Observer* observer : observers_) observer->server(record);
  }
  void switched(const SwitchRecord& record) override {
    for (Observer* observer : observers_) observer->switched(record);
  }

 private:
  std::vector<Observer*> observers_;
};

}  // namespace trireme::train
