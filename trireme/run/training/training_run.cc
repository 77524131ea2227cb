// SPDX-License-Identifier: Apache-2.0
// A training in this process: records, checkpoints, signals, telemetry.
#include "trireme/run/training/training_run.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "trireme/base/error.h"
#include "trireme/base/host.h"
#include "trireme/base/traffic.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/run/setup/algorithm_memory.h"
#include "trireme/run/setup/cache_directory.h"
#include "trireme/run/training/run_records.h"
#include "trireme/train/job/job.h"
#include "trireme/train/loop/session.h"
#include "trireme/train/loop/trainer.h"
#include "trireme/train/telemetry/telemetry.h"

namespace trireme::run {
namespace {

class TrainingRun {
 public:
  TrainingRun(const TrainingRequest& request, const Console& console, const std::atomic<int>& stop)
      : guard_(watched_directory(request), guard_options(request, console, clock_, stop)),
        job_(train::job_from_config(request.config)),
        data_(open_data(request, job_.data)),
        records_((train::check_fit(job_.graph, data_.train->format(), job_.data.title()), request), job_, data_, console, guard_),
        profiler_(train::parse_profile(job_.observe.profile),
                  [this](const train::ProfileData& data) {
                    records_.record_profile(
                        "0", train::profile_lines(data, {.node = "0", .host = host_name(), .own_time = train::own_time_offset()}));
                  }),
        trainer_({.job = job_,
                  .data = data_,
                  .clock = clock_,
                  .anatomy = [this](const observe::StepAnatomy& step) { telemetry_->step(step); },
                  .profiler = &profiler_,
                  .traffic = &traffic_},
                 records_.directory().algorithms()),
        store_(records_.directory().checkpoints(), job_.graph, records_.checkpoint_watch()),
        checkpoints_(store_, clock_, records_.checkpoint_events()) {
    return_algorithms(records_.directory().algorithms());
  }

  int run(const std::atomic<int>& stop) {
    measure();
    const engine::CompileReport& report = trainer_.replica().compile_report();
    records_.begin(report.threads, 1,
                   fmt::format("{} {}; compiled in {:.1f} s", report.threads, report.threads == 1 ? "thread" : "threads", report.seconds));
    if (auto checkpoint = records_.resume(checkpoints_)) trainer_.restore(std::move(*checkpoint));
    trainer_.apply_plan(records_.plan());
    train::Session session(trainer_, checkpoints_, clock_);
    try {
      const auto result =
          session.run(records_.observer(), {.checkpoint_seconds = job_.train.checkpoint_seconds, .tests = data_.test != nullptr}, stop);
      profiler_.finish();
      telemetry_->flush();
      return records_.finish(result, trainer_.cursor(), stop, checkpoints_);
    } catch (const Error& error) {  // only noted: the journal must say that the run failed; main reports why
      records_.failed(trainer_.cursor(), checkpoints_);
      throw;
    }
  }

 private:
  void measure() {
    telemetry_.emplace(train::Telemetry::Options{
        .every = Seconds(job_.observe.sample_seconds),
        .baseline = Seconds(job_.observe.baseline_seconds),
        .send = [this, host = host_name()](const train::TelemetryReport& report) { records_.record_telemetry("0", host, report); },
        .time = [] { return observe::seconds_since_1970(std::chrono::system_clock::now()); },
        .traffic = traffic_});
    telemetry_->takes_part({.share = 1});
    telemetry_->wait_for_baseline();
  }

  SteadyClock clock_;
  DiskGuard guard_;
  train::Job job_;
  data::DataSets data_;
  RunRecords records_;
  train::Profiler profiler_;
  TrafficCounter traffic_;  // with no other node it stays at 0
  train::Trainer trainer_;
  train::CheckpointStore store_;
  train::CheckpointKeeper checkpoints_;
  std::optional<train::Telemetry> telemetry_;
};

}  // namespace

TrainingRequest training_request(const JobRequest& job, const Console& console) {
  return {.config = load_job(job, console),
          .job_text = job.text,
          .title = std::filesystem::path(job.file).stem().string(),
          .resume = job.resume,
          .changed = job.changes_job()};
}

void fit_to_data(TrainingRequest& request) {
  if (!request.resume.empty()) return;
  train::check_job(request.config);  // a mistake there is reported before anything is read
  request.sources = data::open_sources(data::data_request(request.config.at("data")));
  request.config = train::fit_to_data(request.config, request.sources.train->format());
}

data::DataSets open_data(const TrainingRequest& request, const data::DataRequest& data) {
  if (request.sources.train == nullptr) return data::open_data(data, cache_directory());
  return data::open_data(data, request.sources, cache_directory());
}

int run_training(const TrainingRequest& request, const Console& console, const std::atomic<int>& stop) {
  return TrainingRun(request, console, stop).run(stop);
}

}  // namespace trireme::run
