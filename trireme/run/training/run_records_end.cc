// SPDX-License-Identifier: Apache-2.0
// The end of a run, in its journal and on the console, also on a disk that refuses its last checkpoint or its records.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "trireme/base/host.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/run/training/run_records.h"
#include "trireme/train/checkpoint/checkpoint_layout.h"

namespace trireme::run {
namespace {

constexpr Seconds kFirstPause{1};
constexpr Seconds kMaxPause{8};

std::string newest_text(const std::filesystem::path& newest) {
  return newest.empty() ? "there is none before it" : fmt::format("{} is kept", newest.filename().string());
}

}  // namespace

void RunRecords::say(const std::string& line) const {
  console_.err << fmt::format("{}trireme: {}\n", request_.terminal ? "\r\033[K" : "", line) << std::flush;
}

train::CheckpointKeeper::Events RunRecords::checkpoint_events() {
  return {
      .refused = [this](const train::CheckpointKeeper::Refusal& refusal) { on_checkpoint_refused(refusal); },
      .written = {},
      .recovered =
          [this](const train::CheckpointKeeper::Recovery& recovery) {
            say(fmt::format("a checkpoint is written again, after {} that failed in {:.0f} s", recovery.tries, recovery.seconds.count()));
          }};
}

// A disk that stays full is not reported all the time.
void RunRecords::on_checkpoint_refused(const train::CheckpointKeeper::Refusal& refusal) {
  if (!std::has_single_bit(static_cast<std::uint64_t>(refusal.tries))) return;
  say(fmt::format(
      "warning: {} (machine {}): the checkpoint after step {} is not written, {}. The training goes on, and it is tried again; free space",
      refusal.reason, host_name(), refusal.step, newest_text(refusal.newest)));
  const observe::Fields fields{{"step", refusal.step}, {"host", host_name()}, {"error", refusal.reason}, {"tries", refusal.tries}};
  post(kRecord, [this, fields] { journal_.write("checkpoint_failed", fields); });
}

void RunRecords::failed(const train::Cursor& cursor, train::CheckpointKeeper& checkpoints) {
  if (const auto record = checkpoints.retry()) observers_.checkpoint(*record);
  end(cursor, "failed", nullptr);
}

int RunRecords::finish(train::SessionResult result, const train::Cursor& cursor, const std::atomic<int>& stop,
                       train::CheckpointKeeper& checkpoints) {
  const bool is_trained = result.ending == train::Ending::completed || result.ending == train::Ending::stopped_early;
  if (is_trained && !checkpoints.refusal()) evaluate(result, stop);
  guard_.expect_end();
  const int signal = stop;
  EndPatience patience(guard_.clock(), stop);
  const std::filesystem::path settled = settle_checkpoint(checkpoints, patience);
  if (!settled.empty()) result.checkpoint = settled;
  const auto refusal = checkpoints.refusal();
  if (result.ending == train::Ending::interrupted) record("interrupt", {{"signal", std::int64_t{signal}}, {"step", cursor.step}});
  end(cursor, refusal ? "failed" : train::name_of(result.ending), &patience);
  if (refusal && is_trained) console_.out << summary(result, cursor);
  const int code = refusal ? report_missing(*refusal) : report_ending(result, cursor, signal);
  if (!disk_.is_behind()) return code;
  say(fmt::format("error: {} could not be written to the end: what happened last is missing there", disk_.missing()));
  return exit_failed;
}

std::filesystem::path RunRecords::settle_checkpoint(train::CheckpointKeeper& checkpoints, EndPatience& patience) {
  const auto refusal = checkpoints.refusal();
  if (!refusal) return {};
  say(fmt::format("the last checkpoint, after step {}, is not written yet: trying for up to {:.0f} s; free space for {}", refusal->step,
                  patience.left().count(), directory_.path().string()));
  for (Seconds pause = kFirstPause; !patience.is_over(); pause = std::min(2 * pause, kMaxPause)) {
    patience.sleep(pause);
    const auto record = checkpoints.retry();
    if (!record) continue;
    observers_.checkpoint(*record);
    return record->directory;
  }
  return {};
}

int RunRecords::report_missing(const train::CheckpointKeeper::Refusal& refusal) const {
  const std::string from = refusal.newest.empty() ? "no checkpoint was written, so it begins anew"
                                                  : fmt::format("it continues from {}", refusal.newest.filename().string());
  say(fmt::format(
      "error: the last checkpoint, after step {}, is missing: {} (machine {}). Free space, then\n  trireme train --resume {}\n{}",
      refusal.step, refusal.reason, host_name(), directory_.path().string(), from));
  return exit_failed;
}

int RunRecords::report_ending(const train::SessionResult& result, const train::Cursor& cursor, int signal) const {
  const std::string start = request_.terminal ? "\r\033[K" : "";
  const std::string run = directory_.path().string();
  switch (result.ending) {
    case train::Ending::quorum_lost:
      console_.err << fmt::format(
          "{}trireme: error: too few nodes are left; what they knew after step {} is kept. When there are more, continue with\n"
          "  trireme train --resume {}\n",
          start, cursor.step, run);
      return exit_quorum_lost;
    case train::Ending::interrupted:
      console_.out << (result.checkpoint.empty()
                           ? "interrupted before the first step: nothing was trained, nothing is lost\n"
                           : fmt::format(
                                 "{}interrupted after step {}; the checkpoint is written. Continue with\n  trireme train --resume {}\n",
                                 start, cursor.step, run));
      return 128 + signal;
    case train::Ending::until:
      console_.out << fmt::format(
          "stopped after step {}, as --until {} asks; the checkpoint is written. Continue with\n  trireme train --resume {}\n", cursor.step,
          request_.until, run);
      return 0;
    default: {
      const bool has_best = std::filesystem::exists(result.checkpoint / train::kBestFile);
      const std::filesystem::path model = result.checkpoint / (has_best ? train::kBestFile : train::kModelFile);
      console_.out << summary(result, cursor) << (has_best ? best_epoch(cursor) : "") << findings_text_
                   << fmt::format("model    {}\nrecords  {}\n", model.string(), run);
      return 0;
    }
  }
}

std::string RunRecords::summary(const train::SessionResult& result, const train::Cursor& cursor) const {
  std::string text;
  if (result.ending == train::Ending::stopped_early)
    text += fmt::format("stopped early: the validation {} has not been better since epoch {}\n", job_.early_stopping.watch,
                        cursor.best_epoch + 1);
  text += fmt::format("trained {} {} in {:.1f} s, {:.0f} samples/s", cursor.epoch, cursor.epoch == 1 ? "epoch" : "epochs",
                      cursor.train_seconds, static_cast<double>(cursor.samples_seen) / std::max(cursor.train_seconds, 1e-9));
  if (result.test.samples > 0) text += fmt::format("; test loss {:.4f}", result.test.loss);
  if (result.test.samples > 0 && data_.train->format().classes > 0) text += fmt::format(", accuracy {:.2f} %", 100 * result.test.accuracy);
  return text + "\n";
}

std::string RunRecords::best_epoch(const train::Cursor& cursor) const {
  const bool by_accuracy = job_.early_stopping.watch == "accuracy";
  const bool has_validation = data_.validation != nullptr;
  return fmt::format("best     epoch {} of {}, by {} {} {}: its weights are kept{}\n", cursor.best_epoch + 1, cursor.epoch,
                     has_validation ? "validation" : "test", job_.early_stopping.watch,
                     by_accuracy ? fmt::format("{:.2f} %", 100 * cursor.best) : fmt::format("{:.4f}", -cursor.best),
                     has_validation ? data_.test != nullptr ? " and tested" : "" : "; the test above is of the last epoch");
}

// What waits is written before the record of the end, which is then the last one.
void RunRecords::end(const train::Cursor& cursor, std::string_view reason, EndPatience* patience) {
  guard_.expect_end();
  settle_records(patience);
  observe::Fields fields{
      {"epochs", cursor.epoch}, {"steps", cursor.step}, {"seconds", cursor.train_seconds}, {"reason", std::string(reason)}};
  if (cursor.best_epoch >= 0) fields.emplace_back("best_epoch", cursor.best_epoch + 1);
  record("end", fields);
  post(kRecord, [this] {
    journal_.sync();
    events_.flush();
    step_events_.flush();
  });
  queue_.wait();
  settle_records(patience);
  end_page();
}

// Without patience once.
void RunRecords::settle_records(EndPatience* patience) {
  if (!disk_.is_behind()) return;
  if (patience != nullptr && !patience->is_over())
    say(fmt::format("records of this run are not written yet: trying for up to {:.0f} s; free space for {}", patience->left().count(),
                    directory_.path().string()));
  for (;;) {
    post(kRecord, [this] {
      retry_files();
      if (!disk_.is_behind()) journal_.sync();
    });
    queue_.wait();
    if (!disk_.is_behind() || patience == nullptr || patience->is_over()) return;
    patience->sleep(kFirstPause);
  }
}

void RunRecords::end_page() {
  if (!page_) return;
  page_->wait_for_last_look();
  {
    const DiskGuard::Write reading(guard_, {.what = "dashboard"});  // its thread reads the run's files
    page_.reset();
  }
  console_.out << fmt::format("{}the dashboard ended with the training; `trireme dashboard {}` shows it again\n",
                              request_.terminal ? "\r\033[K" : "", directory_.path().string());
}

}  // namespace trireme::run
