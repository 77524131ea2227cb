// SPDX-License-Identifier: Apache-2.0
// Join, prepare, train, report, leave.
#include "trireme/train/node/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/base/traffic.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/observe/wall_clock.h"
#include "trireme/train/checkpoint/checkpoint_layout.h"
#include "trireme/train/loop/trainer.h"
#include "trireme/train/messages/checkpoint_transfer.h"
#include "trireme/train/messages/progress_reporter.h"
#include "trireme/train/messages/reports.h"
#include "trireme/train/node/compile_turn.h"
#include "trireme/train/node/job_preparation.h"
#include "trireme/train/node/node_history.h"
#include "trireme/train/node/peer_blame.h"
#include "trireme/train/node/reporter.h"
#include "trireme/train/node/uploader.h"
#include "trireme/train/telemetry/profile_recorder.h"
#include "trireme/train/telemetry/telemetry.h"

namespace trireme::train {
namespace {

constexpr Seconds kCompileTimeout{600};  // of another node, which times algorithms
constexpr Seconds kRegroupTimeout{900};  // the coordinator may wait for a node to come back before it goes on
constexpr Seconds kLook{0.2};            // at whether this node was asked to leave
constexpr Seconds kAnnouncementTimeout{2};
constexpr Seconds kDismissTimeout{900};  // the coordinator may wait for its disk before it keeps the last checkpoint
constexpr Seconds kVerdictTimeout{10};

class Worker {
 public:
  Worker(coord::Membership& membership, ProgressReporter& progress_reporter, const WorkerOptions& options, const Clock& clock)
      : membership_(membership),
        progress_(progress_reporter),
        options_(options),
        clock_(clock),
        prepared_(prepare_job(membership, progress_reporter, options, clock)),
        data_(data::open_data(job_.data, options.scratch, options.nodes_on_machine)),
        history_(options.events, membership.node()),
        profiler_(parse_profile(job_.observe.profile), [this](const ProfileData& data) { report(data); }),
        trainer_({.job = job_,
                  .data = data_,
                  .clock = clock,
                  .team_follows = true,
                  .at = [&progress_reporter](std::int64_t step, std::string_view phase) { progress_reporter.at(step, phase); },
                  .gives_up = [this] { return may_abandon_data(); },
                  .events = history_.push_events(),
                  .anatomy = [this](const observe::StepAnatomy& step) { telemetry_.step(step); },
                  .profiler = &profiler_,
                  .traffic = traffic_.get()},
                 options.algorithm_cache),
        telemetry_(telemetry_options()),
        reporter_(membership),
        uploader_(membership, [this](std::int64_t step) { history_.handed(step); }) {}

  // True if it saw the end of the training, or left it because it was asked to.
  bool run() {
    for (;;) {
      try {
        if (run_generation()) return true;
      } catch (const Error& error) {
        if (!recovers(error)) return is_asked_to_leave();
      }
    }
  }

  int rank() const { return rank_; }

 private:
  Telemetry::Options telemetry_options() {
    return {
        .every = Seconds(job_.observe.sample_seconds),
        .baseline = Seconds(job_.observe.baseline_seconds),
        .send = [this](const TelemetryReport& report) { membership_.send({.kind = std::string(kTelemetryReport), .bytes = pack(report)}); },
        .time =
            [this] {
              const auto offset = membership_.clock_offset();
              if (offset) return clock_.now().count() + offset->offset;
              return observe::seconds_since_1970(std::chrono::system_clock::now());
            },
        .traffic = *traffic_};
  }

  void report(const ProfileData& data) {
    ProfileOrigin origin{.node = membership_.node(), .host = host_, .rank = rank_, .own_time = own_time_offset()};
    if (const auto clock = membership_.clock_offset()) {
      origin.clock_offset = clock->offset - origin.own_time;
      origin.clock_uncertainty = clock->uncertainty;
    }
    for (std::string& piece : pieces_of_lines(profile_lines(data, origin)))
      membership_.send({.kind = std::string(kProfileReport), .bytes = std::move(piece)});
  }

  // Where this node now stands in its team.
  Duty duty() const {
    const TeamView team = trainer_.team();
    const double all = std::accumulate(team.shares.begin(), team.shares.end(), 0.0);
    const bool divides = !team.is_by_lease && all > 0;
    return {.rank = rank_,
            .what = std::string(team.duty),
            .generation = generation_,
            .share = divides ? team.shares[static_cast<std::size_t>(rank_)] / all : 0};
  }

  // One generation, from the wait for it to its end. Returns false if another follows.
  bool run_generation() {
    telemetry_.wait_for_baseline();
    if (!std::exchange(is_ready_, true))
      membership_.ready(
          {.version = options_.version, .job = prepared_.job_hash, .model = model_hash(job_.graph), .data = prepared_.data_hash});
    failpoint("rdzv.before_join");
    const coord::Generation generation = next_generation();
    generation_ = generation.number;
    enter(generation);
    train();
    if (!trainer_.finished() && !stopped_) {
      const bool tells = trainer_.team().is_lead();
      trainer_.abandon();  // the others come to the same point
      uploader_.settle();
      if (tells) membership_.send({.kind = std::string(kPausedReport), .bytes = pack(trainer_.cursor())});
      return false;
    }
    finish();
    return is_dismissed();
  }

  // Asked while a read hangs, maybe for ever: this node need not stay for it if no node expects anything of it any more.
  bool may_abandon_data() const {
    const bool is_left_out = membership_.announced() > generation_;
    return membership_.dismissed() || membership_.end() || (is_left_out && is_asked_to_leave());
  }

  coord::Generation next_generation() {
    progress_.at(trainer_.cursor().step, kRegroup);
    const Seconds end = clock_.now() + (generation_ == 0 ? options_.start_timeout + options_.keep : kRegroupTimeout);
    for (;;) {
      if (is_asked_to_leave()) {
        membership_.leave();
        throw Error{cancelled, "this node was asked to leave"};
      }
      try {
        return membership_.await_generation(generation_, kLook);
      } catch (const Error& error) {
        if (error.code() != deadline_exceeded || clock_.now() > end) throw;
      }
    }
  }

  // Whether there is another generation to wait for. Everything else is thrown.
  bool recovers(const Error& error) {
    const auto waits = membership_.peer_wait();
    const int missing_in_rendezvous = waits->reset_missed();
    const int missed = trainer_.team().missed_peer;
    const int peer = missed >= 0 ? missed : missing_in_rendezvous;
    waits->end();  // whatever it waited for
    history_.stepped(trainer_);
    history_.broken(trainer_.cursor().step, error.what());
    uploader_.settle();
    trainer_.abandon();
    stopped_ = false;
    wanted_ = {};
    if (error.code() == failed_precondition || error.code() == cancelled) await_announcement();
    if (membership_.dismissed() && !membership_.end()) membership_.leave();
    if (const auto end = membership_.end()) return rejoin_coordinator(*end);
    if (membership_.announced() > generation_) return true;
    if (!blames_peer(error)) throw;  // the one that is being caught, as what it is
    membership_.fail(
        {.rank = rank_, .progress = progress_.progress(), .code = error.code(), .text = error.what(), .blames_peer = true, .peer = peer});
    return true;
  }

  // A call may be refused because its generation is over a moment before this node learns of the next.
  void await_announcement() {
    const Seconds end = clock_.now() + kAnnouncementTimeout;
    while (clock_.now() < end && membership_.announced() <= generation_ && !membership_.dismissed() && !membership_.end())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  // The coordinator is gone, or has declared this node lost.
  bool rejoin_coordinator(const Error& end) {
    history_.ended(end.what());
    if (end.code() == cancelled) return false;
    if (options_.keep <= Seconds(0) || (end.code() != unavailable && end.code() != aborted)) throw Error(end);
    options_.say(fmt::format("{}; waiting up to {:g} s for one that takes over", end.what(), options_.keep.count()));
    membership_.rejoin(options_.keep);
    if (options_.rejoined) options_.rejoined();
    generation_ = 0;
    is_ready_ = false;
    return true;
  }

  bool is_asked_to_leave() const { return options_.signal != nullptr && *options_.signal != 0; }

  void enter(const coord::Generation& generation) {
    rank_ = generation.rank_of(membership_.node());
    host_ = generation.members[static_cast<std::size_t>(rank_)].host;
    if (!generation.plan.empty()) trainer_.apply_plan(unpack_plan(generation.plan));
    // Requests that still wait are of the generation before: in this one nothing is asked before it was entered.
    while (auto message = membership_.receive()) on_message(*message);
    wanted_ = {};
    reporter_.report_again();
    progress_.at(trainer_.cursor().step, "compile");
    compile_in_turn(membership_, generation, [&] {
      progress_.at(trainer_.cursor().step, "compile");  // from now on itself
      trainer_.prepare(rank_, generation.size());
    });
    failpoint("switch.before_rendezvous");
    progress_.at(trainer_.cursor().step, "rendezvous");
    const Seconds timeout{job_.strategy.team.timeout_seconds};
    const auto encryption = job_.strategy.team.encrypt ? comm::Encryption::between_machines : comm::Encryption::never;
    auto communicator = comm::Communicator::connect(membership_.store(),
                                                    {.rank = rank_,
                                                     .size = generation.size(),
                                                     .generation = generation.number,
                                                     .address = options_.address,
                                                     .key = options_.key,
                                                     .cancellation = membership_.cancellation(),
                                                     .report_stranger = options_.say,
                                                     .waits = membership_.peer_wait(),
                                                     .traffic = traffic_,
                                                     .spans = &profiler_.spans(),
                                                     .encryption = encryption,
                                                     .mpi = options_.mpi},
                                                    std::max(timeout, kCompileTimeout));  // others may still compile
    failpoint("rdzv.after_join");
    const int root = trainer_.enter(Team(std::move(communicator), timeout, generation.number, neighbours(generation)),
                                    [this](const Position& newer_than) {
                                      return ask_for(newer_than, [this](std::string request) {
                                        return membership_.call(std::string(kGetCheckpoint), std::move(request), kCallTimeout);
                                      });
                                    });
    history_.joined(generation, trainer_, {.root = root, .samples = data_.train->size(), .batch_size = job_.train.batch_size});
    reporter_.go_back_to(trainer_.cursor());
    reporter_.set_reporting(trainer_.team().is_lead());
    telemetry_.takes_part(duty());
    if (trainer_.team().is_lead()) membership_.send({.kind = std::string(kEnteredReport), .bytes = pack(trainer_.cursor())});
  }

  Neighbours neighbours(const coord::Generation& generation) const {
    Neighbours out{.store = &membership_.store(),
                   .address = options_.address,
                   .credentials = membership_.credentials(),
                   .cancellation = membership_.cancellation(),
                   .say = options_.say,
                   .waits = membership_.peer_wait(),
                   .traffic = traffic_};
    for (const coord::Member& member : generation.members) out.nodes.push_back(member.node);
    return out;
  }

  // Until the end, or until all are to wait for another generation.
  void train() {
    while (!trainer_.finished() && !stopped_) {
      while (auto message = membership_.receive()) on_message(*message);
      ask_to_leave();
      const Requests agreed = trainer_.advance(reporter_, wanted_);
      history_.stepped(trainer_);
      if (agreed.checkpoint) keep(agreed.stop || agreed.regroup);
      stopped_ = agreed.stop;
      if (agreed.any()) wanted_ = {};
      if (agreed.regroup) return;
    }
  }

  // Once a generation: the coordinator then makes one without this node.
  void ask_to_leave() {
    if (!is_asked_to_leave() || std::exchange(asked_in_, generation_) == generation_) return;
    membership_.send({.kind = std::string(kLeavingReport), .bytes = {}});
  }

  void on_message(const coord::Message& message) {
    if (message.kind == kRecorded) return reporter_.recorded(unpack_cursor(message.bytes));
    if (message.kind != kRequest) return;
    const Requests requests = unpack_requests(message.bytes);
    wanted_.stop |= requests.stop;
    wanted_.checkpoint |= requests.checkpoint;
    wanted_.regroup |= requests.regroup;
  }

  // All nodes take part in a checkpoint; the one that leads hands it in. One of many does not wait for the one before, which the
  // coordinator may still write, on a disk that hangs: it will be asked for again.
  void keep(bool is_last) {
    progress_.at(trainer_.cursor().step, "checkpoint");
    Checkpoint checkpoint = trainer_.checkpoint();
    if (trainer_.team().is_lead() && (is_last || !uploader_.is_busy())) uploader_.begin(std::move(checkpoint));
  }

  void finish() {
    progress_.at(trainer_.cursor().step, "finish");
    keep(true);
    Finish finish{
        .interrupted = !trainer_.finished(), .stopped_early = trainer_.finished() == Ending::stopped_early, .cursor = trainer_.cursor()};
    if (trainer_.finished() && data_.test != nullptr) finish.test = trainer_.test();
    progress_.at(trainer_.cursor().step, "finish");
    profiler_.finish();
    telemetry_.flush();
    if (!trainer_.team().is_lead()) return;
    uploader_.finish();
    membership_.send({.kind = std::string(kFinishReport), .bytes = pack(finish)});
  }

  // False: a node was lost before the end was reported, and another generation does that part again.
  bool is_dismissed() {
    failpoint("shutdown.mid");
    const Seconds end = clock_.now() + kDismissTimeout;
    while (!membership_.dismissed() && !membership_.end() && clock_.now() < end) {
      if (membership_.announced() > generation_) return false;
      membership_.receive(Seconds(0.1));
    }
    membership_.leave();
    return true;
  }

  coord::Membership& membership_;
  ProgressReporter& progress_;
  const WorkerOptions& options_;
  const Clock& clock_;
  PreparedJob prepared_;
  const Job& job_ = prepared_.job;
  data::DataSets data_;
  NodeHistory history_;
  Profiler profiler_;
  const std::shared_ptr<TrafficCounter> traffic_ = std::make_shared<TrafficCounter>();
  Trainer trainer_;
  Telemetry telemetry_;
  Reporter reporter_;
  Uploader uploader_;
  Requests wanted_;  // by the coordinator, not yet agreed
  bool stopped_ = false;
  bool is_ready_ = false;
  std::uint64_t generation_ = 0;  // taken up last
  std::uint64_t asked_in_ = 0;    // generation in which this node asked to leave
  int rank_ = -1;
  std::string host_;  // the machine, as the user calls it
};

}  // namespace

bool run_worker(coord::Membership& membership, const WorkerOptions& options, const Clock& clock) {
  ProgressReporter progress_reporter(membership);
  progress_reporter.at(-1, "preparation");
  std::optional<Worker> worker;
  const auto report = [&](const Error& error) {
    membership.fail({.rank = worker ? worker->rank() : -1,
                     .progress = progress_reporter.progress(),
                     .code = error.code(),
                     .text = error.what(),
                     .blames_peer = blames_peer(error)});
  };
  try {
    worker.emplace(membership, progress_reporter, options, clock);
    return worker->run();
  } catch (const Error& error) {
    if (membership.end()) throw;
    report(error);
  } catch (const std::exception& error) {  // the standard library's: a file system, memory, threads
    if (membership.end()) throw;
    report(SystemError{internal, "{}", error.what()});
  }
  // The coordinator goes on without this node, or dismisses all.
  const Seconds end = clock.now() + kVerdictTimeout;
  while (!membership.dismissed() && !membership.end() && clock.now() < end) membership.receive(Seconds(0.1));
  membership.leave();
  return false;
}

}  // namespace trireme::train
