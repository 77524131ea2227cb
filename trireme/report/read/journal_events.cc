// SPDX-License-Identifier: Apache-2.0
// Records of something that happened, in words.
#include <fmt/format.h>

#include <cmath>

#include "trireme/report/read/fields.h"
#include "trireme/report/read/journal_part.h"

namespace trireme::report {
namespace {

std::string node_title(const observe::Record& record) { return fmt::format("node {} on {}", word(record, "node"), word(record, "host")); }

Event lost_event(const observe::Record& record) {
  return {.time = record.time,
          .kind = "lost",
          .title = node_title(record) + " lost",
          .detail = word(record, "cause"),
          .step = number(record, "step")};
}

Event straggler_event(const observe::Record& record) {
  const bool is_over = record.type == "straggler_over";
  return {.time = record.time,
          .kind = "straggler",
          .title = node_title(record) +
                   (is_over ? " is not slow any more" : fmt::format(" is {:.1f} times as slow", number(record, "slowness"))),
          .detail = is_over ? "" : "action: " + word(record, "action"),
          .step = number(record, "step")};
}

Event slow_link_event(const observe::Record& record) {
  return {.time = record.time,
          .kind = "straggler",
          .title = fmt::format("{} has a slow link: {:.1f} Mbit/s", node_title(record), 8e-6 * number(record, "bytes_per_second")),
          .detail = fmt::format("{:.1f} Mbit/s are usual here; {:.0f} % of a step is waiting for exchange",
                                8e-6 * number(record, "typical"), 100 * number(record, "wait_share")),
          .step = number(record, "step")};
}

Event rollback_event(const observe::Record& record) {
  return {.time = record.time,
          .kind = "rollback",
          .title = fmt::format("back to step {}", number(record, "step")),
          .detail = fmt::format("steps up to {} are done again", number(record, "from")),
          .step = number(record, "step")};
}

Event resume_event(const observe::Record& record) {
  return {.time = record.time,
          .kind = "resume",
          .title = fmt::format("goes on after step {}", number(record, "step")),
          .detail = word(record, "checkpoint"),
          .step = number(record, "step")};
}

Event verdict_event(const observe::Record& record, double step) {
  return {.time = record.time, .kind = "verdict", .title = word(record, "decision"), .detail = word(record, "reason"), .step = step};
}

Event checkpoint_event(const observe::Record& record) {
  return {.time = record.time,
          .kind = "checkpoint",
          .title = "checkpoint",
          .detail = fmt::format("{}, {:.2f} s", word(record, "directory"), number(record, "seconds")),
          .step = number(record, "step")};
}

Event checkpoint_failed_event(const observe::Record& record) {
  return {.time = record.time,
          .kind = "disk",
          .title = fmt::format("a checkpoint could not be written on {}", word(record, "host")),
          .detail = word(record, "error"),
          .step = number(record, "step")};
}

Event disk_event(const observe::Record& record, double step) {
  if (record.type == "disk_failure")
    return {.time = record.time,
            .kind = "disk",
            .title = fmt::format("the disk on {} refuses records", word(record, "host")),
            .detail = word(record, "error"),
            .step = step};
  const double lost = number(record, "lost");
  return {.time = record.time,
          .kind = "disk",
          .title = fmt::format("records are written again, after {:.0f} s", number(record, "seconds")),
          .detail = lost > 0 ? fmt::format("{:.0f} are lost", lost) : "none is lost",
          .step = step};
}

Event skip_event(const observe::Record& record, double step) {
  const std::string ranks = word(record, "faulty_ranks");
  return {.time = record.time,
          .kind = "skip",
          .title = fmt::format("step {} skipped", step),
          .detail = ranks.empty() ? "the sum of all gradients was not finite"
                                  : fmt::format("loss or gradients of rank {} were not finite", ranks),
          .step = step};
}

}  // namespace

// Reported with its step, so that it is known wherever the step is.
void JournalPart::take_skips(const observe::Record& record, double step) {
  const double steps = number_or(record, "skipped", 0);
  if (!(steps > 0)) return;
  skips_[step] = steps;
  add_event(skip_event(record, step));
}

void JournalPart::take_other(const observe::Record& record) {
  const std::string& type = record.type;
  if (type == "lost") {
    lost_[word(record, "node")] = record.time;
    add_event(lost_event(record));
  }
  if (type == "straggler" || type == "straggler_over") add_event(straggler_event(record));
  if (type == "slow_link") add_event(slow_link_event(record));
  if (type == "verdict") add_event(verdict_event(record, step_));
  if (type == "checkpoint") add_event(checkpoint_event(record));
  if (type == "checkpoint_failed") add_event(checkpoint_failed_event(record));
  if (type == "disk_failure" || type == "disk_recovered") add_event(disk_event(record, step_));
  if (type == "interrupt")
    add_event({.time = record.time,
               .kind = "interrupt",
               .title = "interrupted",
               .detail = fmt::format("signal {}", number(record, "signal")),
               .step = number(record, "step")});
  if (type == "rollback") {
    add_event(rollback_event(record));
    forget_after(number_or(record, "step", step_));
  }
  if (type == "resume") {
    add_event(resume_event(record));
    forget_after(number_or(record, "step", step_));
    samples_seen_ = number_or(record, "samples_seen", samples_seen_);
    run_.epochs = number_or(record, "epochs", run_.epochs);
    is_new_session_ = true;
  }
  if (type == "test") {
    test_loss_ = number(record, "loss");
    test_accuracy_ = number(record, "accuracy");
    test_samples_ = number(record, "samples");
  }
}

}  // namespace trireme::report
