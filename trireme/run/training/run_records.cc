// SPDX-License-Identifier: Apache-2.0
// Beginning and resumption of a run, in its journal and on the console.
#include "trireme/run/training/run_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include "trireme/base/files.h"
#include "trireme/base/host.h"
#include "trireme/base/table.h"
#include "trireme/base/version.h"
#include "trireme/observe/journal_version.h"
#include "trireme/optim/optimizer.h"
#include "trireme/run/setup/algorithm_memory.h"
#include "trireme/run/setup/data_lookup.h"
#include "trireme/train/job/class_weights.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/web/page.h"

namespace trireme::run {
namespace {

// A job file for the run: what follows from the set's name will follow from it again, maybe on another machine.
std::string kept_config(const Config& config) {
  std::vector<train::Setting> settings = train::settings_of(config);
  std::erase_if(settings, [](const train::Setting& setting) { return setting.origin.starts_with(kFromSetName); });
  return train::job_file_of(settings);
}

train::RunDirectory run_directory(const TrainingRequest& request) {
  if (!request.resume.empty()) {
    auto directory = train::RunDirectory::open(request.resume);
    directory.lock();
    if (request.changed) write_file_atomically(directory.config(), kept_config(request.config));
    return directory;
  }
  auto directory = train::RunDirectory::create(request.base, request.title, std::chrono::system_clock::now());
  directory.lock();
  write_file_atomically(directory.config(), kept_config(request.config));
  if (!request.job_text.empty()) write_file_atomically(directory.path() / "job.toml", request.job_text);
  lend_algorithms(directory.algorithms());
  return directory;
}

constexpr Seconds kRetry{1};
constexpr std::size_t kMaxSkippedRecords = 1000;  // a set with more has another fault

std::string samples_text(const data::DataSets& sets) {
  std::string text = with_thousands(sets.train->size());
  if (sets.validation != nullptr) text += fmt::format(" + {} validation", with_thousands(sets.validation->size()));
  if (sets.test != nullptr) text += fmt::format(" + {} test", with_thousands(sets.test->size()));
  return text;
}

std::string model_title(const Config& config) {
  const Config* name = config.at("model").find("name");
  return name == nullptr ? "layers" : name->text();
}

std::int64_t optimizer_slots(const train::Job& job) {
  return static_cast<std::int64_t>(optim::Optimizer::from_config(job.optimizer, job.graph.parameters()).slots().size());
}

std::int64_t event_steps(const train::Job& job, const data::Source& samples) {
  if (job.observe.tensorboard_steps > 0) return job.observe.tensorboard_steps;
  const std::int64_t per_epoch = (samples.size() + job.train.batch_size - 1) / job.train.batch_size;
  return train::every_for(job.train.epochs * per_epoch);
}

constexpr std::size_t kMaxShownWeights = 20;

// "0 1.2, 1 0.85", or "dress 1.2, shoe 0.85" if classes have names.
std::string weights_text(const std::vector<float>& weights, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(weights.size(), kMaxShownWeights); ++i)
    text += fmt::format("{}{} {:.3g}", i == 0 ? "" : ", ", i < names.size() ? names[i] : std::to_string(i), weights[i]);
  return weights.size() > kMaxShownWeights ? text + ", ..." : text;
}

std::int64_t size_of(const std::shared_ptr<const data::Source>& samples) { return samples == nullptr ? 0 : samples->size(); }

}  // namespace

std::string watched_directory(const TrainingRequest& request) {
  return request.resume.empty() ? request.base.string() : request.resume.string();
}

DiskGuard::Options guard_options(const TrainingRequest& request, const Console& console, const Clock& clock, const std::atomic<int>& stop) {
  return {.clock = clock,
          .stop = stop,
          .say = [&console, start = request.terminal ? "\r\033[K" : ""](
                     const std::string& line) { console.err << fmt::format("{}trireme: {}\n", start, line) << std::flush; },
          .exit =
              [&console](int code) {
                console.out.flush();
                std::_Exit(code);
              }};
}

RunRecords::RunRecords(const TrainingRequest& request, const train::Job& job, const data::DataSets& data, const Console& console,
                       DiskGuard& guard)
    : request_(request),
      job_(job),
      data_(data),
      console_(console),
      guard_(guard),
      opening_(std::in_place, guard, DiskWrite{.what = "new files"}),
      recorded_at_(std::chrono::system_clock::now()),
      disk_({.clock = guard.clock(), .host = host_name(), .say = [this](const std::string& line) { say(line); }}),
      directory_(run_directory(request)),
      // A record's time is when it was made, not when the disk took it.
      journal_(
          directory_.journal(), [this] { return recorded_at_.load(); }, &disk_),
      events_(
          directory_.events(), [this] { return recorded_at_.load(); }, &disk_),
      step_events_(
          directory_.step_events(), [this] { return recorded_at_.load(); }, &disk_),
      progress_(console.out, guard.clock(),
                {.terminal = request.terminal, .epochs = job.train.epochs, .classes = data.train->format().classes > 0}),
      recorder_(journal_, {.epochs = events_, .steps = step_events_, .every = event_steps(job, *data.train)},
                data.train->format().classes > 0),
      telemetry_(directory_.path(), &disk_),
      profile_(directory_.path(), [&console](const std::string& line) { console.err << "trireme: " << line << "\n"; }),
      queue_(guard),
      queued_recorder_(recorder_,
                       [this](std::function<void()> write) {
                         queue_.check();
                         post(kRecord, std::move(write));
                       }),
      observers_({&progress_, &queued_recorder_}) {
  guard.rename(directory_.path().string());
  opening_.reset();
}

WriteQueue::Number RunRecords::post(const DiskWrite& write, std::function<void()> carry_out) {
  return queue_.post(write, [this, now = std::chrono::system_clock::now(), carry_out = std::move(carry_out)] {
    recorded_at_ = now;
    carry_out();
    tend_files();
  });
}

// On the queue's thread.
void RunRecords::tend_files() {
  if (disk_.is_behind() && guard_.clock().now() >= next_retry_) {
    retry_files();
    next_retry_ = guard_.clock().now() + kRetry;
  }
  for (const RecordWatch::Record& record : disk_.take_records()) journal_.write(record.type, record.fields);
}

void RunRecords::retry_files() {
  journal_.flush();
  events_.flush();
  step_events_.flush();
  telemetry_.retry();
}

void RunRecords::record(std::string_view type, const observe::Fields& fields) {
  queue_.check();
  post(kRecord, [this, type = std::string(type), fields] { journal_.write(type, fields); });
}

// Both are called by threads that are no place for another record's error.
void RunRecords::record_telemetry(const std::string& node, const std::string& host, const train::TelemetryReport& report) {
  const std::size_t bytes = sizeof report + report.steps.size() * sizeof(observe::StepAnatomy);
  post({.what = "telemetry", .bytes = static_cast<std::int64_t>(bytes)},
       [this, node, host, report] { telemetry_.record(node, host, report); });
}

void RunRecords::record_profile(const std::string& node, const std::string& lines) {
  post({.what = "profile", .bytes = static_cast<std::int64_t>(lines.size())}, [this, node, lines] { profile_.on_profile(node, lines); });
}

std::function<bool()> RunRecords::flush() {
  queue_.check();
  return [this, number = post(kRecord, [this] { journal_.flush(); })] { return queue_.is_written(number) && !journal_.is_behind(); };
}

void RunRecords::sync() {
  post(kRecord, [this] { journal_.sync(); });
  queue_.wait();
}

train::CheckpointStore::WatchWrite RunRecords::checkpoint_watch() {
  return [this](std::int64_t bytes) { return std::make_shared<DiskGuard::Write>(guard_, DiskWrite{.what = "checkpoint", .bytes = bytes}); };
}

void RunRecords::begin(std::int64_t threads, std::int64_t workers, const std::string& machinery) {
  for (const std::string& warning : data_.warnings) console_.err << "trireme: warning: " << warning << "\n";
  console_.out << fmt::format("{} parameters, {} samples of {}, batch size {}, {}\nrun directory {}\n",
                              with_thousands(job_.graph.parameters().size()), samples_text(data_), job_.data.title(), job_.train.batch_size,
                              machinery, directory_.path().string())
               << std::flush;
  if (!job_.train.class_weights.empty())
    console_.out << fmt::format("class weights {}\n", weights_text(train::class_weights(job_, *data_.train), data_.class_names))
                 << std::flush;
  if (request_.resume.empty()) record_run(threads, workers);
  write_examples();
  queue_.wait();  // the page reads it
  // A port of one's own choice is for programs (Prometheus), which can't read the token from a terminal.
  const auto token_file = request_.dashboard_port > 0 ? directory_.path() / "dashboard.token" : std::filesystem::path{};
  if (request_.dashboard) page_.emplace(directory_.path(), web::ServerOptions{.port = request_.dashboard_port}, token_file);
  if (page_) console_.out << "dashboard " << page_->url() << "\n" << std::flush;
  if (page_ && !web::page_absence().empty())
    console_.err << "trireme: note: only /metrics and /api/run are there; " << web::absence_text("the dashboard", web::page_absence())
                 << "\n";
}

void RunRecords::record_run(std::int64_t threads, std::int64_t workers) {
  record("run", {{"trireme", std::string(version())},
                 {"journal", observe::kJournalVersion},
                 {"job", request_.title},
                 {"model", model_title(request_.config)},
                 {"data", job_.data.title()},
                 {"parameters", job_.graph.parameters().size()},
                 {"optimizer_slots", optimizer_slots(job_)},
                 {"samples", data_.train->size()},
                 {"validation_samples", size_of(data_.validation)},
                 {"test_samples", size_of(data_.test)},
                 {"batch_size", job_.train.batch_size},
                 {"epochs", job_.train.epochs},
                 {"threads", threads},
                 {"workers", workers},
                 {"seed", job_.train.seed},
                 {"host", host_name()}});
  post(kRecord, [this] { events_.text("config", "```toml\n" + read_file(directory_.config()) + "```"); });
  record_skipped_samples();
}

void RunRecords::record_skipped_samples() {
  const std::size_t named = std::min(data_.skipped.size(), kMaxSkippedRecords);
  for (std::size_t i = 0; i < named; ++i) record("skipped_sample", {{"sample", data_.skipped[i]}});
  if (named < data_.skipped.size()) record("skipped_sample", {{"sample", fmt::format("and {} more", data_.skipped.size() - named)}});
}

void RunRecords::record_strategies(const train::Plan& plan) {
  for (const train::Phase& phase : plan.phases) record_strategy(phase.strategy);
}

void RunRecords::record_strategy(const train::StrategyPart& strategy) {
  const std::string text = train::text_of(strategy);
  if (!recorded_strategies_.insert(text).second) return;
  const train::StrategyFacts facts = train::facts_of(strategy, job_.graph.parameters());
  record("strategy", {{"strategy", text},
                      {"exchange", std::string(train::name_of(facts.exchange))},
                      {"is_joint", facts.is_joint},
                      {"bytes_per_value", facts.bytes_per_value},
                      {"steps_between", facts.steps_between},
                      {"buckets", facts.buckets},
                      {"has_overlap", facts.has_overlap},
                      {"sends_slots", facts.sends_slots},
                      {"servers_compute", facts.servers_compute}});
}

std::optional<train::Checkpoint> RunRecords::resume(train::CheckpointKeeper& checkpoints) {
  if (request_.resume.empty()) return std::nullopt;
  auto loaded = checkpoints.load_newest();
  if (!loaded) {
    console_.out << "no checkpoint yet: starting from the beginning\n";
    record_resume({}, "");
    return std::nullopt;
  }
  for (const std::string& warning : loaded->warnings) console_.err << "trireme: warning: " << warning << "\n";
  const train::Cursor& cursor = loaded->checkpoint.cursor;
  console_.out << fmt::format("continuing after step {} (epoch {}) from {}\n", cursor.step, cursor.epoch + 1, loaded->directory.string());
  if (cursor.epoch >= job_.train.epochs)
    console_.out << fmt::format("nothing is left to train: {} epochs are done, {} are wanted; --set train.epochs={} trains on\n",
                                cursor.epoch, job_.train.epochs, 2 * cursor.epoch);
  record_resume(cursor, loaded->directory.filename().string());
  return std::move(loaded->checkpoint);
}

void RunRecords::record_resume(const train::Cursor& cursor, const std::string& checkpoint) {
  record("resume", {{"journal", observe::kJournalVersion},
                    {"step", cursor.step},
                    {"epoch", cursor.epoch + 1},
                    {"samples_seen", cursor.samples_seen},
                    {"epochs", job_.train.epochs},
                    {"checkpoint", checkpoint}});
  post(kRecord, [this, epoch = cursor.epoch + 1, step = cursor.step + 1] {  // what comes from here on is recorded again
    events_.restart(epoch);
    step_events_.restart(step);
  });
}

train::Plan RunRecords::plan() const {
  const train::PlanSpan span{.samples_per_epoch = data_.train->size(), .epochs = job_.train.epochs, .batch_size = job_.train.batch_size};
  train::Plan plan = train::plan_of(job_.strategy, span);
  if (!request_.until.empty()) plan.until = train::point_of(request_.until, span, "--until");
  return plan;
}

}  // namespace trireme::run
