// SPDX-License-Identifier: Apache-2.0
// What nodes tell and what becomes of them, in records and in words; and the leave-taking.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "trireme/train/conductor/conducting.h"

namespace trireme::train {
namespace {

constexpr Seconds kTick{0.02};
constexpr Seconds kLeaveTimeout{10};
constexpr std::int64_t kProgress = 10;  // steps after which earlier failures are forgiven

// Tells what has happened, which stays true when another generation holds. Everything else is said to the members of a generation, and
// means nothing in the next: it was queued a moment before that was announced.
bool is_record(const coord::Message& message) {
  constexpr std::array kRecords = {kStepReport, kEpochReport, kTelemetryReport, kProfileReport, kServerReport, kSwitchReport};
  return std::ranges::find(kRecords, message.kind) != kRecords.end();
}

}  // namespace

void Conducting::conclude() {
  tell_checkpoints();
  conductor_.cursor_ = finish_->cursor;
  result_.test = finish_->test;
  result_.ending = quorum_lost_ && stop_ == 0                                                          ? Ending::quorum_lost
                   : plan_.ends_at(finish_->cursor.samples_seen) && stop_ == 0 && finish_->interrupted ? Ending::until
                   : finish_->interrupted                                                              ? Ending::interrupted
                   : finish_->stopped_early                                                            ? Ending::stopped_early
                                                                                                       : Ending::completed;
  if (result_.test.samples > 0) observer_.test(result_.test);
}

// Everybody leaves in good order; who does not, is ended by its launcher.
void Conducting::part() {
  is_parting_ = true;
  coordinator_.dismiss_all();
  const Seconds end = clock_.now() + kLeaveTimeout;
  while (!coordinator_.nodes().empty() && clock_.now() < end) listen();
  event("fenced", {{"messages", static_cast<std::int64_t>(coordinator_.refused_messages())}});
}

void Conducting::tell_checkpoints() {
  for (const Conductor::Kept& kept : conductor_.taken()) {
    if (kept.trouble) {
      options_.say(fmt::format("a checkpoint could not be kept, training goes on: {}", kept.trouble->what()));
      checkpoint_trouble_ = kept.trouble;
      continue;
    }
    result_.checkpoint = kept.record.directory;
    observer_.checkpoint(kept.record);
    checkpoint_trouble_.reset();
    checkpoint_clock_.kept();
  }
}

// Everything since the last call, after waiting a little for something to happen.
void Conducting::listen() {
  auto next = coordinator_.next_event(kTick);
  while (next) {
    hear(*next);
    next = coordinator_.next_event(Seconds(0));
  }
  if (options_.exits)
    for (const NodeExit& exit : options_.exits()) hear(exit);
}

void Conducting::hear(const coord::Event& happened) {
  using Kind = coord::Event::Kind;
  const std::string& node = happened.node;
  switch (happened.kind) {
    case Kind::hello:
      roll_.came(node, happened.info);
      last_words_.erase(node);
      return event("hello", {{"node", node}, {"host", happened.info.host}});
    case Kind::ready:
      return roll_.ready(node);
    case Kind::refused:
      return hear_refusal(node, happened.reason);
    case Kind::message:
      if (happened.generation != generation_ && !is_record(happened.message)) return;
      return hear(node, happened.message);
    case Kind::failed:
      // Ranks of another generation are not those of this one. A node's own error stays one.
      if (happened.generation != generation_ && happened.failure.blames_peer) return;
      return hear_failure(node, happened.failure);
    case Kind::left:
      event("left", {{"node", node}});
      return miss(node, {.certainty = Blame::Certainty::process_ended, .what = "left", .cause = "before the end"});
    case Kind::lost:
      event("lost", {{"node", node}, {"reason", happened.reason}});
      return miss(node, {.certainty = Blame::Certainty::lost,
                         .code = unavailable,
                         .what = "is lost",
                         .cause = happened.reason,
                         .progress = happened.progress});
  }
}

// It is not here any more.
void Conducting::miss(const std::string& node, Blame blame) {
  const bool is_news = roll_.went(node);
  if (leaving_.erase(node) > 0) {
    roll_.leave_out(node);
    if (!is_member(node)) return;
  }
  if (is_parting_ || finish_ || (!is_news && !troubles_.blames().contains(node))) return;
  last_words_[node] = fmt::format("{}: {}", blame.what, blame.cause);
  if (is_member(node)) troubles_.blame(node, std::move(blame));
}

void Conducting::hear_refusal(const std::string& node, const std::string& reason) {
  roll_.leave_out(node);
  if (is_gathering_ && !options_.takes_over) throw Error{failed_precondition, "{} is refused: {}", title(node), reason};
  options_.say(fmt::format("{} is refused: {}", title(node), reason));
}

void Conducting::hear_failure(const std::string& node, const coord::FailureReport& failure) {
  if (failure.blames_peer && !is_gathering_)  // before the first generation nobody has peers
    return troubles_.complain({.by = node, .about = missed_by(node, failure), .text = failure.text});
  tell_checkpoints();
  // A worker minds only if it is the last one.
  if (checkpoint_trouble_ && failure.text.find(checkpoint_trouble_->what()) != std::string::npos) throw Error{*checkpoint_trouble_};
  // What is not a number for one node is not for the next: it is the job's, and the last checkpoint is from before it.
  if (failure.code == out_of_range)
    throw Error{out_of_range, "{}; {}", failure.text,
                result_.checkpoint.empty() ? "no checkpoint was kept yet" : "the last good checkpoint is " + result_.checkpoint.string()};
  Blame blame{.certainty = Blame::Certainty::own_error,
              .code = failure.code,
              .what = "failed",
              .cause = failure.text,
              .progress = failure.progress};
  // Before the first step a mistake of the job or its data is likelier than one of the machine.
  if (is_gathering_) throw as_error(node, blame);
  coordinator_.dismiss(node);
  miss(node, std::move(blame));
}

void Conducting::hear(const std::string& node, const coord::Message& message) {
  if (message.kind == kStepReport) return hear(unpack_step(message.bytes));
  if (message.kind == kTelemetryReport) {
    if (options_.telemetry) options_.telemetry(node, host_of(node), unpack_telemetry(message.bytes));
    return;
  }
  if (message.kind == kProfileReport) {
    if (options_.profile) options_.profile(node, message.bytes);
    return;
  }
  if (message.kind == kEpochReport) return hear(unpack_epoch(message.bytes));
  if (message.kind == kEnteredReport) {
    lead_ = node;
    return hear_entry(unpack_cursor(message.bytes));
  }
  if (message.kind == kServerReport) return hear(unpack_server(message.bytes));
  if (message.kind == kStragglerReport) return hear(node, unpack_straggler(message.bytes));
  if (message.kind == kSlowLinkReport) return on_slow_link(node, unpack_slow_link(message.bytes));
  if (message.kind == kSwitchReport) return hear(unpack_switch(message.bytes));
  if (message.kind == kPausedReport) return hear_pause(unpack_cursor(message.bytes));
  if (message.kind == kLeavingReport) return hear_leave_taking(node);
  if (message.kind == kFinishReport) finish_ = unpack_finish(message.bytes);
}

// Workers tell a step again when it may have been lost with another worker or coordinator.
void Conducting::hear(const StepRecord& record) {
  Cursor& cursor = conductor_.cursor_;
  if (record.step <= cursor.step) return;
  cursor.step = record.step;
  cursor.samples_seen = record.samples_seen;
  cursor.train_seconds += record.seconds;
  observer_.step(record);
  stalls_.on_step(Seconds(record.input_wait_seconds), Seconds(record.compute_seconds));
  if (switch_policy_) switch_policy_->hear(record);
  if (!has_entered_ || record.step < entered_at_ + kProgress || std::exchange(has_progressed_, true)) return;
  strikes_.clear();
  for (const std::string& member : members_) {
    roll_.progressed(member);
    out_of_memory_.erase(member);
  }
}

void Conducting::hear(const EpochRecord& record) {
  if (record.epoch < conductor_.cursor_.epoch) return;
  conductor_.cursor_.epoch = record.epoch + 1;
  observer_.epoch(record);
  judge(record);
}

void Conducting::hear_entry(const Cursor& cursor) {
  has_entered_ = true;
  entered_at_ = cursor.step;
  if (cursor.step < conductor_.cursor_.step) {
    options_.say(fmt::format("nobody is left who knows steps {} to {}: they are done again", cursor.step + 1, conductor_.cursor_.step));
    if (options_.record) options_.record("rollback", {{"from", conductor_.cursor_.step}, {"step", cursor.step}});
    conductor_.cursor_ = cursor;
  }
  if (!is_same_team_ && (generation_ > options_.last_generation + 1 || options_.takes_over))
    options_.say(fmt::format("generation {}: {} on after step {}", generation_,
                             members_.size() == 1 ? std::string("1 node goes") : fmt::format("{} nodes go", members_.size()), cursor.step));
}

void Conducting::hear(const ServerRecord& record) {
  observer_.server(record);
  if (record.servers_needed <= record.servers || std::exchange(told_of_servers_, true)) return;
  const std::string advice = record.servers_needed <= record.workers
                                 ? fmt::format("{} would keep up (strategy.servers)", record.servers_needed)
                                 : "the steps are too short for it; take a larger train.batch_size, or allreduce";
  options_.say(fmt::format("the workers wait {:.0f} % of their time for the parameter server{}: {}", 100 * record.wait_share,
                           record.servers == 1 ? "" : "s", advice));
}

void Conducting::hear(const SwitchRecord& record) {
  if (switch_policy_) switch_policy_->runs(part_of(record.to));
  observer_.switched(record);
  options_.say(
      fmt::format("switched ({}) after step {} from {} to {}: {} worker{} with batches of {}, learning rate {:g}; it took {:.2f} s",
                  record.why, record.step, record.from, record.to, record.workers, record.workers == 1 ? "" : "s", record.worker_batch,
                  record.learning_rate * record.rate_factor, record.seconds));
}

void Conducting::hear_pause(const Cursor& cursor) {
  for (const std::string& node : leaving_) coordinator_.dismiss(node);
  change_plan(cursor);
  // Somebody died meanwhile: in a moment enough is known to name it, and then all go on without it.
  if (!troubles_.blames().empty()) return;
  const std::vector<std::string> before = members_;
  announce_or_wait();
  is_same_team_ = members_ == before;
}

void Conducting::hear_leave_taking(const std::string& node) {
  if (!leaving_.insert(node).second) return;
  options_.say(fmt::format("{} was asked to leave", title(node)));
  // Too few would remain: all keep what they have, and end.
  if (members_now().size() < static_cast<std::size_t>(options_.min_nodes)) quorum_lost_ = true;
}

void Conducting::hear(const NodeExit& exit) {
  roll_.process_ended(exit.node);
  if (is_parting_ || finish_ || leaving_.contains(exit.node)) return;
  last_words_[exit.node] = exit.how;
  if (exit.out_of_memory) on_out_of_memory(exit);
  if (is_gathering_ && exit.by_itself) throw Error{aborted, "{} ended (preparation): {}", title(exit.node), exit.how};
  if (!is_member(exit.node)) return;
  coordinator_.dismiss(exit.node);
  roll_.went(exit.node);
  troubles_.blame(exit.node, {.certainty = Blame::Certainty::process_ended, .what = "ended", .cause = exit.how});
}

// Once may be a neighbour's fault. Twice without a step in between it would happen again and again.
void Conducting::on_out_of_memory(const NodeExit& exit) {
  if (out_of_memory_.insert(exit.node).second) return;
  throw Error{resource_exhausted,
              "{} ended twice in a row: {}; give it more memory, or ask for less: fewer nodes on that machine, a smaller train.batch_size, "
              "data.pipeline.cache = \"disk\"; then go on with --resume",
              title(exit.node), exit.how};
}

void Conducting::tell(const std::string& node, const Blame& blame) {
  last_blame_ = as_error(node, blame);
  options_.say(last_blame_->what() + std::string(roll_.is_left_out(node) ? "; it failed too often and is left out" : ""));
  if (options_.record)
    options_.record("lost", {{"node", node},
                             {"host", host_of(node)},
                             {"step", conductor_.cursor_.step},
                             {"phase", blame.progress.phase},
                             {"cause", blame.cause}});
}

Error Conducting::as_error(const std::string& node, const Blame& blame) const {
  return Error{blame.code, "{} {}{}: {}", title(node), blame.what, where(blame.progress), blame.cause};
}

std::string Conducting::host_of(const std::string& node) const {
  const coord::NodeInfo* const info = roll_.info(node);
  return info == nullptr ? "" : info->host;
}

std::string Conducting::title(const std::string& node) const {
  const coord::NodeInfo* const info = roll_.info(node);
  if (info == nullptr || !is_member(node)) return fmt::format("node {}{}", node, info == nullptr ? "" : " on " + info->host);
  return fmt::format("rank {} on {}", rank_of(node), info->host);
}

std::string Conducting::where(const coord::Progress& progress) const {
  if (progress.step > 0) return fmt::format(" in step {} ({})", progress.step, progress.phase);
  // It went before its next heartbeat; the others know how far all had come.
  if (conductor_.cursor_.step > 0) return fmt::format(" after step {}", conductor_.cursor_.step);
  return progress.phase.empty() ? "" : fmt::format(" ({})", progress.phase);
}

void Conducting::event(std::string_view type, const observe::Fields& fields) const {
  if (options_.events == nullptr) return;
  options_.events->write(type, fields);
  if (type == "generation") options_.events->sync();
}

}  // namespace trireme::train
