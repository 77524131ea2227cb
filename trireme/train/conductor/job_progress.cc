// SPDX-License-Identifier: Apache-2.0
// Records, checkpoints and acknowledgements.
#include "trireme/train/conductor/job_progress.h"

#include <fmt/format.h>

namespace trireme::train {
namespace {

constexpr Seconds kAcknowledge{1};  // nodes keep more reports than that

}  // namespace

JobProgress::JobProgress(const Cursor& start, Seconds checkpoint_interval, const Clock& clock)
    : clock_(clock), cursor_(start), checkpoint_clock_(checkpoint_interval, clock) {}

void JobProgress::on_entered(const Cursor& cursor, Actions& out) {
  if (cursor.step >= cursor_.step) return;
  out.emplace_back(Say{fmt::format("no node is left that has steps {} to {}: they are repeated", cursor.step + 1, cursor_.step)});
  out.emplace_back(WriteRecord{"rollback", {{"from", cursor_.step}, {"step", cursor.step}}});
  cursor_ = cursor;
}

bool JobProgress::on_step(const StepRecord& record, Actions& out) {
  if (record.step <= cursor_.step) return false;
  cursor_.step = record.step;
  cursor_.samples_seen = record.samples_seen;
  cursor_.train_seconds += record.seconds;
  out.emplace_back(Observe<StepRecord>{record});
  return true;
}

bool JobProgress::on_epoch(const EpochRecord& record, Actions& out) {
  if (record.epoch < cursor_.epoch) return false;
  cursor_.epoch = record.epoch + 1;
  out.emplace_back(Observe<EpochRecord>{record});
  return true;
}

void JobProgress::on_checkpoint(const CheckpointRecord& record, Actions& out) {
  checkpoint_ = record.directory;
  checkpoint_error_.reset();
  checkpoint_clock_.on_written();
  out.emplace_back(Observe<CheckpointRecord>{record});
}

void JobProgress::on_checkpoint_failed(const std::optional<Error>& error, Actions& out) {
  checkpoint_error_ = error;
  checkpoint_clock_.on_failed();
  if (error) out.emplace_back(Say{fmt::format("a checkpoint could not be kept, training continues: {}", error->what())});
}

bool JobProgress::start_checkpoint_if_due() {
  if (!checkpoint_clock_.is_due()) return false;
  checkpoint_clock_.request();
  return true;
}

// Nodes keep what they reported until it is written.
void JobProgress::acknowledge(const std::vector<std::string>& members, Actions& out) {
  if (cursor_.step == acknowledged_step_ || clock_.now() - acknowledged_at_ < kAcknowledge) return;
  acknowledged_step_ = cursor_.step;
  acknowledged_at_ = clock_.now();
  out.emplace_back(Acknowledge{members, cursor_});
}

}  // namespace trireme::train
