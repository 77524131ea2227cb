// SPDX-License-Identifier: Apache-2.0
// Join, prepare, train, report, leave.
#include "trireme/train/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <optional>

#include "trireme/base/config.h"
#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/data/data_sets.h"
#include "trireme/train/checkpoint_layout.h"
#include "trireme/train/checkpoint_transfer.h"
#include "trireme/train/reports.h"
#include "trireme/train/staging.h"
#include "trireme/train/trainer.h"

namespace trireme::train {
namespace {

constexpr Seconds kCallTimeout{30};
constexpr Seconds kCompileTimeout{600};  // of another node on this machine, which times algorithms
constexpr Seconds kDismissTimeout{60};
constexpr Seconds kVerdictTimeout{10};

void await_dismissal(coord::Membership& membership, const Clock& clock, Seconds timeout) {
  const Seconds end = clock.now() + timeout;
  while (!membership.dismissed() && !membership.end() && clock.now() < end) membership.receive(Seconds(0.1));
  membership.leave();
}

// The first worker tells the coordinator what everybody knows after a step.
class Reporter final : public Observer {
 public:
  explicit Reporter(coord::Membership& membership) : membership_(membership) {}
  void step(const StepRecord& record) override { send(kStepReport, pack(record)); }
  void epoch(const EpochRecord& record) override { send(kEpochReport, pack(record)); }

 private:
  void send(std::string_view kind, std::string bytes) { membership_.send({.kind = std::string(kind), .bytes = std::move(bytes)}); }
  coord::Membership& membership_;
};

// Hands in checkpoints behind the training's back, one at a time.
class Uploader {
 public:
  explicit Uploader(coord::Membership& membership) : membership_(membership) {}

  void begin(Checkpoint checkpoint) {
    if (checkpoint.cursor.step == step_) return;
    finish();
    step_ = checkpoint.cursor.step;
    running_ = std::async(std::launch::async, [this, state = std::move(checkpoint)] {
      hand_in(state, [this](std::string piece) { return membership_.call(std::string(kPutCheckpoint), std::move(piece), kCallTimeout); });
    });
  }
  void finish() {
    if (running_.valid()) running_.get();
  }

 private:
  coord::Membership& membership_;
  std::int64_t step_ = -1;
  std::future<void> running_;
};

// Where this node is, told to the coordinator and remembered for the report of a failure.
class Whereabouts {
 public:
  explicit Whereabouts(coord::Membership& membership) : membership_(membership) {}
  void at(std::int64_t step, std::string_view phase) {
    progress_ = {.step = step, .phase = std::string(phase)};
    membership_.at(step, phase);
  }
  const coord::Progress& progress() const { return progress_; }

 private:
  coord::Membership& membership_;
  coord::Progress progress_;
};

class Worker {
 public:
  Worker(coord::Membership& membership, Whereabouts& whereabouts, const WorkerOptions& options, const Clock& clock)
      : membership_(membership),
        whereabouts_(whereabouts),
        options_(options),
        clock_(clock),
        welcome_(unpack_welcome(membership.welcome())),
        job_(prepare_job()),
        data_(data::open_data(job_.data, options.scratch)),
        trainer_({.job = job_,
                  .data = data_,
                  .clock = clock,
                  .team_follows = true,
                  .at = [&whereabouts](std::int64_t step, std::string_view phase) { whereabouts.at(step, phase); }},
                 options.algorithm_cache),
        uploader_(membership) {}

  void run() {
    membership_.ready({.version = options_.version, .job = job_hash_, .model = model_hash(job_.graph), .data = data_hash_});
    const coord::Generation generation = membership_.await_generation(0, options_.start_timeout);
    enter(generation);
    train();
    finish();
    await_dismissal(membership_, clock_, kDismissTimeout);
  }

  int rank() const { return rank_; }

 private:
  // The coordinator's job with data files of this machine, fetched if they were not here.
  Job prepare_job() {
    Config config = Config::parse_toml(welcome_.job, "the coordinator's job");
    config.set("train.threads", fmt::format("{}", options_.threads), "this node");
    whereabouts_.at(-1, "staging");
    const StagedData staged =
        stage_data(config, {.call = [this](const std::string& method,
                                           std::string request) { return membership_.call(method, std::move(request), kCallTimeout); },
                            .cache = options_.scratch / "staged",
                            .progress = [this](const StagingProgress& progress) { tell(progress); }});
    data_hash_ = staged.hash;
    job_hash_ = options_.job_hash.empty() ? job_hash(config) : options_.job_hash;
    whereabouts_.at(-1, "preparation");
    return job_from_config(config);
  }

  void tell(const StagingProgress& progress) {
    const Seconds now = clock_.now();
    if (progress.bytes < progress.total && (now - last_told_).count() < 2) return;
    last_told_ = now;
    constexpr double kMegabyte = 1 << 20;
    options_.say(fmt::format("data: {:.1f} of {:.1f} MiB", static_cast<double>(progress.bytes) / kMegabyte,
                             static_cast<double>(progress.total) / kMegabyte));
  }

  void enter(const coord::Generation& generation) {
    rank_ = generation.rank_of(membership_.node());
    compile_in_turn(generation);
    whereabouts_.at(trainer_.cursor().step, "rendezvous");
    const Seconds timeout{job_.strategy.team.timeout_seconds};
    auto communicator = comm::Communicator::connect(membership_.store(),
                                                    {.rank = rank_,
                                                     .size = generation.size(),
                                                     .generation = generation.number,
                                                     .address = options_.address,
                                                     .key = options_.key,
                                                     .tell = options_.say},
                                                    timeout);
    if (rank_ == 0 && welcome_.resumes)
      trainer_.restore(
          ask_for([this](std::string request) { return membership_.call(std::string(kGetCheckpoint), std::move(request), kCallTimeout); }));
    trainer_.enter(Team(std::move(communicator), timeout), 0);
  }

  // One node of a machine compiles while the others wait: alone it times algorithms undisturbed, and they use what it found, so that
  // a repeated run computes the same bits.
  void compile_in_turn(const coord::Generation& generation) {
    const std::string& host = generation.members[static_cast<std::size_t>(rank_)].host;
    const auto first = std::ranges::find(generation.members, host, &coord::Member::host) - generation.members.begin();
    const std::string key = fmt::format("compiled/{}", first);
    whereabouts_.at(trainer_.cursor().step, "compile");
    if (first != rank_) membership_.store().get(key, kCompileTimeout);
    trainer_.prepare(rank_, generation.size());
    if (first == rank_) membership_.store().set(key, "yes");
  }

  void train() {
    Reporter reporter(membership_);
    Observer silent;
    Observer& observer = rank_ == 0 ? static_cast<Observer&>(reporter) : silent;
    while (!trainer_.finished() && !stopped_) {
      while (auto message = membership_.receive()) hear(*message);
      const Requests agreed = trainer_.advance(observer, wanted_);
      if (agreed.checkpoint) keep();
      stopped_ = agreed.stop;
      if (agreed.any()) wanted_ = {};
    }
  }

  void hear(const coord::Message& message) {
    if (message.kind != kRequest) return;
    const Requests requests = unpack_requests(message.bytes);
    wanted_.stop |= requests.stop;
    wanted_.checkpoint |= requests.checkpoint;
  }

  // Everybody takes part in a checkpoint; the first worker hands it in.
  void keep() {
    Checkpoint checkpoint = trainer_.checkpoint();
    if (rank_ == 0) uploader_.begin(std::move(checkpoint));
  }

  void finish() {
    whereabouts_.at(trainer_.cursor().step, "finish");
    keep();
    Finish finish{.interrupted = !trainer_.finished(), .stopped_early = trainer_.stopped_early(), .cursor = trainer_.cursor()};
    if (trainer_.finished() && data_.test != nullptr) finish.test = trainer_.test();
    if (rank_ != 0) return;
    uploader_.finish();
    membership_.send({.kind = std::string(kFinishReport), .bytes = pack(finish)});
  }

  coord::Membership& membership_;
  Whereabouts& whereabouts_;
  const WorkerOptions& options_;
  const Clock& clock_;
  Welcome welcome_;
  std::string data_hash_, job_hash_;
  Seconds last_told_{};
  Job job_;
  data::DataSets data_;
  Trainer trainer_;
  Uploader uploader_;
  Requests wanted_;  // by the coordinator, not yet agreed
  bool stopped_ = false;
  int rank_ = -1;
};

// A peer that is gone looks like this from here; whose fault it is only the coordinator can tell.
bool blames_peer(const Error& error) { return error.code() == unavailable || error.code() == deadline_exceeded; }

}  // namespace

bool run_worker(coord::Membership& membership, const WorkerOptions& options, const Clock& clock) {
  Whereabouts whereabouts(membership);
  whereabouts.at(-1, "preparation");
  std::optional<Worker> worker;
  try {
    worker.emplace(membership, whereabouts, options, clock);
    worker->run();
    return true;
  } catch (const Error& error) {
    if (membership.end()) throw;
    membership.fail({.rank = worker ? worker->rank() : -1,
                     .progress = whereabouts.progress(),
                     .code = error.code(),
                     .text = error.what(),
                     .blames_peer = blames_peer(error)});
  }
  // The coordinator finds out whose fault it was, and sends everybody home.
  await_dismissal(membership, clock, kVerdictTimeout);
  return false;
}

}  // namespace trireme::train
