// SPDX-License-Identifier: Apache-2.0
// Gathering, one generation after another, leaving.
#include "trireme/train/conductor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/train/roll.h"
#include "trireme/train/troubles.h"

namespace trireme::train {
namespace {

constexpr Seconds kTick{0.02};
constexpr Seconds kLeaveTimeout{10};
constexpr Seconds kReturn{10};          // for nodes that have lost their coordinator to find the one that takes over
constexpr std::int64_t kProgress = 10;  // steps after which earlier failures are forgiven
constexpr int kStrikes = 2;             // a pair that can't reach each other so often is parted

std::string count_of(std::size_t count, std::string_view thing) { return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s"); }

}  // namespace

// One run of the conductor.
class Conducting {
 public:
  Conducting(Conductor& conductor, coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer,
             const std::atomic<int>& stop)
      : conductor_(conductor),
        coordinator_(coordinator),
        options_(options),
        observer_(observer),
        stop_(stop),
        clock_(conductor.clock_),
        roll_({.nodes = options.nodes, .restarts = options.restarts, .startable = options.startable}, clock_),
        troubles_(options.silence, clock_),
        generation_(options.last_generation) {}

  SessionResult run() {
    try {
      gather();
      while (!finish_) {
        listen();
        tend();
      }
      conclude();
      part();
    } catch (...) {
      coordinator_.dismiss_all();
      throw;
    }
    return result_;
  }

 private:
  // ---- before the first generation

  void gather() {
    const Seconds begin = clock_.now();
    is_gathering_ = true;
    while (!is_complete(clock_.now() - begin)) {
      listen();
      if (!options_.takes_over || clock_.now() - begin > kReturn / 2) start_due_nodes();
      if (stop_ != 0) finish_ = Finish{.interrupted = true, .cursor = conductor_.cursor_};
      if (finish_) return;
    }
    is_gathering_ = false;
    announce(members_now());
  }

  // Throws if there are not enough and there is nothing left to wait for.
  bool is_complete(Seconds waited) const {
    const std::size_t ready = members_now().size();
    if (ready >= wanted()) return true;
    const auto enough = static_cast<std::size_t>(options_.takes_over ? options_.min_nodes : options_.start_nodes);
    const bool waits =
        waited < (options_.takes_over && options_.startable.empty() ? kReturn : options_.start_timeout) && anybody_may_come();
    if (waits) return false;
    if (enough > 0 && ready >= enough) return true;
    throw Error{deadline_exceeded, "{}", missing_text(waited)};
  }

  std::size_t wanted() const {
    const std::size_t all = options_.nodes.size();
    return options_.max_nodes > 0 ? std::min(all, static_cast<std::size_t>(options_.max_nodes)) : all;
  }

  bool anybody_may_come() const {
    return std::ranges::any_of(roll_.all(), [&](const std::string& node) { return !roll_.is_ready(node) && !roll_.is_left_out(node); });
  }

  std::string missing_text(Seconds waited) const {
    std::vector<std::string> missing;
    for (const std::string& node : roll_.all()) {
      if (roll_.is_ready(node)) continue;
      const coord::NodeInfo* const info = roll_.info(node);
      const auto why = last_words_.find(node);
      if (why != last_words_.end())
        missing.push_back(fmt::format("node {} {}", node, why->second));
      else
        missing.push_back(info != nullptr ? fmt::format("node {} on {} is still preparing", node, info->host)
                                          : fmt::format("node {} never came", node));
    }
    return fmt::format(
        "after {:.0f} s not every node is ready: {}; look at their output above, raise --start-timeout, or be content with "
        "fewer by --min-nodes",
        waited.count(), fmt::join(missing, ", "));
  }

  // ---- generations

  void tend() {
    tell_checkpoints();
    start_due_nodes();
    if (troubles_.are_due()) return go_on_without_the_lost();
    if (troubles_.any()) return;
    if (waiting_since_) return look_whether_enough_came();
    ask_workers();
  }

  // Those who could be members now, in order of ranks.
  std::vector<std::string> members_now() const {
    std::vector<std::string> out = roll_.available();
    std::erase_if(out, [&](const std::string& node) { return leaving_.contains(node); });
    if (options_.max_nodes > 0 && out.size() > static_cast<std::size_t>(options_.max_nodes)) {
      std::vector<std::string> chosen = out;
      std::ranges::stable_partition(chosen, [&](const std::string& node) { return is_member(node); });  // who is in stays in
      chosen.resize(static_cast<std::size_t>(options_.max_nodes));
      std::erase_if(out, [&](const std::string& node) { return std::ranges::find(chosen, node) == chosen.end(); });
    }
    return out;
  }

  bool is_member(const std::string& node) const { return std::ranges::find(members_, node) != members_.end(); }
  int rank_of(const std::string& node) const { return static_cast<int>(std::ranges::find(members_, node) - members_.begin()); }

  void announce(const std::vector<std::string>& nodes) {
    coord::Generation generation{.number = ++generation_};
    for (const std::string& node : nodes) {
      const coord::NodeInfo& info = *roll_.info(node);
      generation.members.push_back({.node = node, .host = info.host, .address = info.address});
    }
    members_ = nodes;
    conductor_.desk_.begin_generation(generation.number);
    event("generation",
          {{"generation", static_cast<std::int64_t>(generation.number)}, {"members", fmt::format("{}", fmt::join(nodes, " "))}});
    if (options_.announced) options_.announced(generation);
    failpoint("coord.after_log_before_reply");
    coordinator_.announce(generation);
    troubles_.clear();
    waiting_since_.reset();
    told_to_stop_ = asked_to_pause_ = has_progressed_ = has_entered_ = false;
    last_checkpoint_ = clock_.now();
  }

  void go_on_without_the_lost() {
    for (const auto& [node, blame] : troubles_.blames()) tell(node, blame);
    throw_if_everybody_failed();
    if (troubles_.blames().empty() && troubles_.first_complaint()) part_a_pair(*troubles_.first_complaint());
    troubles_.clear();
    announce_or_wait();
  }

  // An error that all workers meet is the job's, not a machine's.
  void throw_if_everybody_failed() const {
    const auto& blames = troubles_.blames();
    const bool all = std::ranges::all_of(members_, [&](const std::string& node) {
      const auto found = blames.find(node);
      return found != blames.end() && found->second.certainty == Blame::Certainty::own_error;
    });
    if (all && !members_.empty()) throw as_error(members_.front(), blames.at(members_.front()));
  }

  // Both are here, but can't reach each other. The first time it may have been a moment's trouble.
  void part_a_pair(const Complaint& complaint) {
    const std::string& guilty = complaint.about.empty() ? complaint.by : complaint.about;
    const int strikes = ++strikes_[guilty];
    options_.say(fmt::format("{} misses {}, but both are here: trying again{}", title(complaint.by),
                             complaint.about.empty() ? "somebody" : title(complaint.about),
                             strikes < kStrikes ? "" : fmt::format(" without {} for a while", title(guilty))));
    if (strikes >= kStrikes) roll_.exclude(guilty);
  }

  void announce_or_wait() {
    const std::vector<std::string> next = members_now();
    if (next.size() >= static_cast<std::size_t>(options_.min_nodes)) return announce(next);
    if (quorum_lost_) return give_up(next);
    waiting_since_ = clock_.now();
    options_.say(fmt::format("{} of at least {} here: waiting for more", count_of(next.size(), "node"), options_.min_nodes));
  }

  void look_whether_enough_came() {
    const std::vector<std::string> next = members_now();
    if (next.size() >= static_cast<std::size_t>(options_.min_nodes)) return announce(next);
    if (stop_ != 0 || !anybody_may_come() || clock_.now() - *waiting_since_ > options_.start_timeout) give_up(next);
  }

  // What the last ones know is kept; then it ends, to be resumed with more machines.
  void give_up(const std::vector<std::string>& last_ones) {
    quorum_lost_ = stop_ == 0;
    if (!last_ones.empty()) return announce(last_ones);
    if (stop_ == 0 && last_blame_) throw Error{*last_blame_};
    finish_ = Finish{.interrupted = true, .cursor = conductor_.cursor_};
  }

  // What is asked of the first worker is agreed by all in the step that follows.
  void ask_workers() {
    if ((stop_ != 0 || quorum_lost_) && !std::exchange(told_to_stop_, true)) return request({.stop = true});
    if (told_to_stop_) return;
    const double since = (clock_.now() - last_checkpoint_).count();
    if (options_.checkpoint_seconds > 0 && since >= options_.checkpoint_seconds) {
      last_checkpoint_ = clock_.now();
      request({.checkpoint = true});
    }
    if (has_entered_ && !asked_to_pause_ && somebody_comes_or_goes()) {
      asked_to_pause_ = true;
      request({.regroup = true});
    }
  }

  bool somebody_comes_or_goes() const {
    const std::vector<std::string> next = members_now();
    return next != members_ && next.size() >= static_cast<std::size_t>(options_.min_nodes);
  }

  void request(const Requests& requests) {
    if (members_.empty()) return;
    coordinator_.send(members_.front(), {.kind = std::string(kRequest), .bytes = pack(requests)});
  }

  void start_due_nodes() {
    if (finish_ || told_to_stop_) return;
    for (const std::string& node : roll_.due()) {
      const int failures = roll_.failures(node);
      if (failures > 0) {
        options_.say(fmt::format("starting node {} again (failure {} of {} in a row)", node, failures, options_.restarts));
        event("relaunch", {{"node", node}, {"failures", std::int64_t{failures}}});
      }
      roll_.launched(node);
      options_.start(node);
    }
  }

  // ---- the end

  void conclude() {
    tell_checkpoints();
    conductor_.cursor_ = finish_->cursor;
    result_.test = finish_->test;
    result_.ending = quorum_lost_             ? Ending::quorum_lost
                     : finish_->interrupted   ? Ending::interrupted
                     : finish_->stopped_early ? Ending::stopped_early
                                              : Ending::completed;
    if (result_.test.samples > 0) observer_.test(result_.test);
  }

  // Everybody leaves in good order; who does not, is ended by its launcher.
  void part() {
    is_parting_ = true;
    coordinator_.dismiss_all();
    const Seconds end = clock_.now() + kLeaveTimeout;
    while (!coordinator_.nodes().empty() && clock_.now() < end) listen();
    event("fenced", {{"messages", static_cast<std::int64_t>(coordinator_.refused_messages())}});
  }

  void tell_checkpoints() {
    for (const Conductor::Kept& kept : conductor_.taken()) {
      if (kept.trouble) {
        options_.say(fmt::format("a checkpoint could not be kept, training goes on: {}", kept.trouble->what()));
        checkpoint_trouble_ = kept.trouble;
        continue;
      }
      result_.checkpoint = kept.record.directory;
      observer_.checkpoint(kept.record);
      checkpoint_trouble_.reset();
      event("commit", {{"generation", kept.record.generation},
                       {"step", kept.record.step},
                       {"epoch", kept.record.epoch},
                       {"offset", kept.record.offset},
                       {"directory", kept.record.directory.string()}});
    }
  }

  // ---- what happens

  // Everything since the last call, after waiting a little for something to happen.
  void listen() {
    auto next = coordinator_.next_event(kTick);
    while (next) {
      hear(*next);
      next = coordinator_.next_event(Seconds(0));
    }
    if (options_.exits)
      for (const NodeExit& exit : options_.exits()) hear(exit);
  }

  void hear(const coord::Event& happened) {
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
        return hear(node, happened.message);
      case Kind::failed:
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
  void miss(const std::string& node, Blame blame) {
    const bool is_news = roll_.went(node);
    if (leaving_.erase(node) > 0) {
      roll_.leave_out(node);
      if (!is_member(node)) return;
    }
    if (is_parting_ || finish_ || (!is_news && !troubles_.blames().contains(node))) return;
    last_words_[node] = fmt::format("{}: {}", blame.what, blame.cause);
    if (is_member(node)) troubles_.blame(node, std::move(blame));
  }

  void hear_refusal(const std::string& node, const std::string& reason) {
    roll_.leave_out(node);
    if (is_gathering_ && !options_.takes_over) throw Error{failed_precondition, "{} is refused: {}", title(node), reason};
    options_.say(fmt::format("{} is refused: {}", title(node), reason));
  }

  void hear_failure(const std::string& node, const coord::FailureReport& failure) {
    if (failure.blames_peer) {
      const bool known = failure.peer >= 0 && failure.peer < static_cast<int>(members_.size());
      return troubles_.complain({.by = node, .about = known ? members_[static_cast<std::size_t>(failure.peer)] : ""});
    }
    tell_checkpoints();
    // A worker minds only if it is the last one.
    if (checkpoint_trouble_ && failure.text.find(checkpoint_trouble_->what()) != std::string::npos) throw Error{*checkpoint_trouble_};
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

  void hear(const std::string& node, const coord::Message& message) {
    if (message.kind == kStepReport) return hear(unpack_step(message.bytes));
    if (message.kind == kEpochReport) return hear(unpack_epoch(message.bytes));
    if (message.kind == kEnteredReport) return hear_entry(unpack_cursor(message.bytes));
    if (message.kind == kStragglerReport) return hear(unpack_straggler(message.bytes));
    if (message.kind == kPausedReport) return hear_pause();
    if (message.kind == kLeavingReport) return hear_leave_taking(node);
    if (message.kind == kFinishReport) finish_ = unpack_finish(message.bytes);
  }

  // Workers tell a step again when it may have been lost with another worker or coordinator.
  void hear(const StepRecord& record) {
    Cursor& cursor = conductor_.cursor_;
    if (record.step <= cursor.step) return;
    cursor.step = record.step;
    cursor.samples_seen = record.samples_seen;
    cursor.train_seconds += record.seconds;
    observer_.step(record);
    if (record.step < entered_at_ + kProgress || std::exchange(has_progressed_, true)) return;
    strikes_.clear();
    for (const std::string& member : members_) roll_.progressed(member);
  }

  void hear(const EpochRecord& record) {
    if (record.epoch < conductor_.cursor_.epoch) return;
    conductor_.cursor_.epoch = record.epoch + 1;
    observer_.epoch(record);
  }

  void hear_entry(const Cursor& cursor) {
    has_entered_ = true;
    entered_at_ = cursor.step;
    if (cursor.step < conductor_.cursor_.step) {
      options_.say(fmt::format("nobody is left who knows steps {} to {}: they are done again", cursor.step + 1, conductor_.cursor_.step));
      if (options_.record) options_.record("rollback", {{"from", conductor_.cursor_.step}, {"step", cursor.step}});
      conductor_.cursor_ = cursor;
    }
    if (generation_ > options_.last_generation + 1 || options_.takes_over)
      options_.say(fmt::format("generation {}: {} on after step {}", generation_,
                               count_of(members_.size(), "worker") + (members_.size() == 1 ? " goes" : " go"), cursor.step));
  }

  void hear(const StragglerRecord& record) {
    if (record.rank < 0 || record.rank >= static_cast<int>(members_.size())) return;
    const std::string& node = members_[static_cast<std::size_t>(record.rank)];
    if (std::exchange(straggler_, node) == node) return;  // told already
    options_.say(fmt::format("{} holds the others up: it takes {:.1f} times as long for a sample; its share of a batch is now {:.0f} %",
                             title(node), record.slowness, 100 * record.share));
    const observe::Fields fields{
        {"node", node}, {"host", host_of(node)}, {"slowness", record.slowness}, {"share", record.share}, {"step", conductor_.cursor_.step}};
    event("straggler", fields);
    if (options_.record) options_.record("straggler", fields);
  }

  void hear_pause() {
    for (const std::string& node : leaving_) coordinator_.dismiss(node);
    announce_or_wait();
  }

  void hear_leave_taking(const std::string& node) {
    if (!leaving_.insert(node).second) return;
    options_.say(fmt::format("{} was asked to leave", title(node)));
    // Too few would remain: all keep what they have, and end.
    if (members_now().size() < static_cast<std::size_t>(options_.min_nodes)) quorum_lost_ = true;
  }

  void hear(const NodeExit& exit) {
    roll_.process_ended(exit.node);
    if (is_parting_ || finish_ || leaving_.contains(exit.node)) return;
    last_words_[exit.node] = exit.how;
    if (is_gathering_ && exit.by_itself) throw Error{aborted, "{} ended (preparation): {}", title(exit.node), exit.how};
    if (!is_member(exit.node)) return;
    coordinator_.dismiss(exit.node);
    roll_.went(exit.node);
    troubles_.blame(exit.node, {.certainty = Blame::Certainty::process_ended, .what = "ended", .cause = exit.how});
  }

  // ---- words

  void tell(const std::string& node, const Blame& blame) {
    last_blame_ = as_error(node, blame);
    options_.say(last_blame_->what() + std::string(roll_.is_left_out(node) ? "; it failed too often and is left out" : ""));
    if (options_.record)
      options_.record("lost", {{"node", node},
                               {"host", host_of(node)},
                               {"step", conductor_.cursor_.step},
                               {"phase", blame.progress.phase},
                               {"cause", blame.cause}});
  }

  Error as_error(const std::string& node, const Blame& blame) const {
    return Error{blame.code, "{} {}{}: {}", title(node), blame.what, where(blame.progress), blame.cause};
  }

  std::string host_of(const std::string& node) const {
    const coord::NodeInfo* const info = roll_.info(node);
    return info == nullptr ? "" : info->host;
  }

  std::string title(const std::string& node) const {
    const coord::NodeInfo* const info = roll_.info(node);
    if (info == nullptr || !is_member(node)) return fmt::format("node {}{}", node, info == nullptr ? "" : " on " + info->host);
    return fmt::format("rank {} on {}", rank_of(node), info->host);
  }

  std::string where(const coord::Progress& progress) const {
    if (progress.step > 0) return fmt::format(" in step {} ({})", progress.step, progress.phase);
    // It went before its next heartbeat; the others know how far all had come.
    if (conductor_.cursor_.step > 0) return fmt::format(" after step {}", conductor_.cursor_.step);
    return progress.phase.empty() ? "" : fmt::format(" ({})", progress.phase);
  }

  void event(std::string_view type, const observe::Fields& fields) const {
    if (options_.events == nullptr) return;
    options_.events->write(type, fields);
    if (type == "generation" || type == "commit") options_.events->sync();
  }

  Conductor& conductor_;
  coord::Coordinator& coordinator_;
  const ConductorOptions& options_;
  Observer& observer_;
  const std::atomic<int>& stop_;
  const Clock& clock_;
  Roll roll_;
  Troubles troubles_;
  std::uint64_t generation_;          // that holds
  std::vector<std::string> members_;  // of it, in order of ranks
  std::set<std::string> leaving_;     // were asked to, and wait for the next boundary
  std::map<std::string, int> strikes_;
  std::map<std::string, std::string> last_words_;  // of nodes that are not here
  std::optional<Error> last_blame_;
  std::optional<Error> checkpoint_trouble_;  // why the last one could not be kept
  std::string straggler_;                    // told last
  std::optional<Finish> finish_;
  std::optional<Seconds> waiting_since_;  // for more nodes
  std::int64_t entered_at_ = 0;           // step at which the members began
  Seconds last_checkpoint_{};
  bool is_gathering_ = false, is_parting_ = false;
  bool has_entered_ = false, has_progressed_ = false;   // in this generation
  bool told_to_stop_ = false, asked_to_pause_ = false;  // in this generation
  bool quorum_lost_ = false;
  SessionResult result_;
};

Conductor::Conductor(std::int64_t most_checkpoint_bytes, std::function<CheckpointRecord(Checkpoint)> keep, const Clock& clock)
    : clock_(clock), keep_(std::move(keep)), desk_(most_checkpoint_bytes, [this](Checkpoint checkpoint) {
        Kept kept;
        try {
          kept.record = keep_(std::move(checkpoint));
        } catch (const Error& error) {
          kept.trouble = error;
        }
        {
          const std::lock_guard lock(mutex_);
          kept_.push_back(kept);
        }
        if (kept.trouble) throw Error{*kept.trouble};
      }) {}

std::vector<Conductor::Kept> Conductor::taken() {
  const std::lock_guard lock(mutex_);
  return std::exchange(kept_, {});
}

std::vector<coord::Coordinator::Method> Conductor::methods() {
  using Callers = coord::Coordinator::Method::Callers;
  return {{.name = std::string(kPutCheckpoint),
           .callers = Callers::members,
           .handler = [this](const std::string&, const std::string& request) { return desk_.put(request); }},
          {.name = std::string(kGetCheckpoint),
           .callers = Callers::members,
           .handler = [this](const std::string&, const std::string& request) { return desk_.get(request); }}};
}

SessionResult Conductor::run(coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer,
                             const std::atomic<int>& stop) {
  return Conducting(*this, coordinator, options, observer, stop).run();
}

}  // namespace trireme::train
