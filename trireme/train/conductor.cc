// SPDX-License-Identifier: Apache-2.0
// Gathering, training, leaving; and who is to blame.
#include "trireme/train/conductor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

constexpr Seconds kTick{0.05};
// A dead node and those who miss it report within milliseconds of each other, in any order: wait for the one that knows.
constexpr Seconds kBlameGrace{0.8};
constexpr Seconds kLeaveTimeout{10};

// Why a training ended; the lowest rank of certainty wins, then the first.
struct Blame {
  enum class Certainty { own_error, process_ended, lost, missed_a_peer };
  Certainty certainty = Certainty::missed_a_peer;
  ErrorCode code = aborted;
  std::string node;
  std::string what;  // "failed", "is lost", "ended"
  std::string cause;
};

}  // namespace

// One run of the conductor.
class Conducting {
 public:
  Conducting(Conductor& conductor, coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer,
             const std::atomic<int>& stop)
      : conductor_(conductor), coordinator_(coordinator), options_(options), observer_(observer), stop_(stop), clock_(conductor.clock_) {}

  SessionResult run() {
    try {
      gather();
      if (!stopped_while_gathering_) train();
      part();
    } catch (...) {
      coordinator_.dismiss_all();
      throw;
    }
    return result_;
  }

 private:
  void gather() {
    const Seconds end = clock_.now() + options_.start_timeout;
    while (ready_.size() < options_.nodes.size()) {
      listen();
      if (stop_ != 0) {
        stopped_while_gathering_ = true;
        result_.ending = Ending::interrupted;
        return;
      }
      if (clock_.now() > end) throw Error{deadline_exceeded, "{}", missing_text()};
    }
    coord::Generation generation{.number = 1};
    for (const std::string& node : options_.nodes)
      generation.members.push_back({.node = node, .host = infos_[node].host, .address = infos_[node].address});
    coordinator_.announce(generation);
    if (options_.announced) options_.announced(generation);
  }

  std::string missing_text() const {
    std::vector<std::string> missing;
    for (const std::string& node : options_.nodes)
      if (!ready_.contains(node))
        missing.push_back(infos_.contains(node) ? fmt::format("node {} on {} is still preparing", node, infos_.at(node).host)
                                                : fmt::format("node {} never came", node));
    return fmt::format("after {:g} s not every node is ready: {}; look at their output above, or raise --start-timeout",
                       options_.start_timeout.count(), fmt::join(missing, ", "));
  }

  void train() {
    Seconds last_checkpoint = clock_.now();
    bool told_to_stop = false;
    while (!finish_) {
      listen();
      for (const CheckpointRecord& record : conductor_.taken()) tell(record);
      if (stop_ != 0 && !told_to_stop) {
        request({.stop = true});
        told_to_stop = true;
      }
      if (options_.checkpoint_seconds > 0 && (clock_.now() - last_checkpoint).count() >= options_.checkpoint_seconds) {
        request({.checkpoint = true});
        last_checkpoint = clock_.now();
      }
    }
    for (const CheckpointRecord& record : conductor_.taken()) tell(record);
    conductor_.cursor_ = finish_->cursor;
    result_.test = finish_->test;
    result_.ending = finish_->interrupted ? Ending::interrupted : finish_->stopped_early ? Ending::stopped_early : Ending::completed;
    if (result_.test.samples > 0) observer_.test(result_.test);
  }

  // Everybody leaves in good order; who does not, is ended by its launcher.
  void part() {
    leaving_ = true;
    coordinator_.dismiss_all();
    const Seconds end = clock_.now() + kLeaveTimeout;
    while (!coordinator_.nodes().empty() && clock_.now() < end) listen();
  }

  void request(const Requests& requests) {
    coordinator_.send(options_.nodes.front(), {.kind = std::string(kRequest), .bytes = pack(requests)});
  }

  void tell(const CheckpointRecord& record) {
    result_.checkpoint = record.directory;
    observer_.checkpoint(record);
  }

  // What has happened since the last call, after waiting a little for something to happen.
  void listen() {
    auto event = coordinator_.next_event(kTick);
    while (event) {
      hear(*event);
      event = coordinator_.next_event(Seconds(0));
    }
    if (options_.exits)
      for (const NodeExit& exit : options_.exits()) hear(exit);
    if (blame_ && clock_.now() >= blame_until_)
      throw Error{blame_->code, "{} {}{}: {}", title(blame_->node), blame_->what, where(last_known_[blame_->node]), blame_->cause};
  }

  void hear(const coord::Event& event) {
    using Kind = coord::Event::Kind;
    switch (event.kind) {
      case Kind::hello:
        infos_[event.node] = event.info;
        break;
      case Kind::ready:
        ready_.insert(event.node);
        break;
      case Kind::refused:
        blame({Blame::Certainty::own_error, failed_precondition, event.node, "is refused", event.reason});
        break;
      case Kind::message:
        hear(event.message);
        break;
      case Kind::failed:
        last_known_[event.node] = event.failure.progress;
        failed_.insert(event.node);
        blame({event.failure.blames_peer ? Blame::Certainty::missed_a_peer : Blame::Certainty::own_error, event.failure.code, event.node,
               "failed", event.failure.text});
        break;
      case Kind::left:
        if (!leaving_ && !failed_.contains(event.node))
          blame({Blame::Certainty::process_ended, aborted, event.node, "left", "before the end"});
        break;
      case Kind::lost:
        if (leaving_ || failed_.contains(event.node)) break;
        last_known_[event.node] = event.progress;
        blame({Blame::Certainty::lost, unavailable, event.node, "is lost", event.reason});
        break;
    }
  }

  void hear(const coord::Message& message) {
    if (message.kind == kStepReport) {
      const StepRecord record = unpack_step(message.bytes);
      conductor_.cursor_.step = record.step;
      conductor_.cursor_.samples_seen = record.samples_seen;
      conductor_.cursor_.train_seconds += record.seconds;
      observer_.step(record);
    } else if (message.kind == kEpochReport) {
      const EpochRecord record = unpack_epoch(message.bytes);
      conductor_.cursor_.epoch = record.epoch + 1;
      observer_.epoch(record);
    } else if (message.kind == kFinishReport) {
      finish_ = unpack_finish(message.bytes);
    }
  }

  void hear(const NodeExit& exit) {
    if (leaving_ || finish_ || failed_.contains(exit.node)) return;
    blame({Blame::Certainty::process_ended, aborted, exit.node, "ended", exit.how});
  }

  void blame(Blame found) {
    if (!blame_) blame_until_ = clock_.now() + kBlameGrace;
    if (!blame_ || found.certainty < blame_->certainty) blame_ = std::move(found);
    if (blame_->certainty == Blame::Certainty::own_error) blame_until_ = clock_.now();
  }

  std::string title(const std::string& node) const {
    const auto rank = std::ranges::find(options_.nodes, node) - options_.nodes.begin();
    const auto info = infos_.find(node);
    return info == infos_.end() ? fmt::format("node {}", node) : fmt::format("rank {} on {}", rank, info->second.host);
  }
  std::string where(const coord::Progress& progress) const {
    if (progress.step > 0) return fmt::format(" in step {} ({})", progress.step, progress.phase);
    // It went before its next heartbeat; the others know how far all had come.
    if (conductor_.cursor_.step > 0) return fmt::format(" after step {}", conductor_.cursor_.step);
    return progress.phase.empty() ? "" : fmt::format(" ({})", progress.phase);
  }

  Conductor& conductor_;
  coord::Coordinator& coordinator_;
  const ConductorOptions& options_;
  Observer& observer_;
  const std::atomic<int>& stop_;
  const Clock& clock_;
  std::map<std::string, coord::NodeInfo> infos_;
  std::set<std::string> ready_;
  std::map<std::string, coord::Progress> last_known_;  // of nodes that are in trouble
  std::set<std::string> failed_;                       // have said so themselves: that they go then is no news
  std::optional<Finish> finish_;
  std::optional<Blame> blame_;
  Seconds blame_until_{};
  bool leaving_ = false;
  bool stopped_while_gathering_ = false;
  SessionResult result_;
};

Conductor::Conductor(std::int64_t most_checkpoint_bytes, std::function<CheckpointRecord(Checkpoint)> keep, const Clock& clock)
    : clock_(clock), keep_(std::move(keep)), desk_(most_checkpoint_bytes, [this](Checkpoint checkpoint) {
        CheckpointRecord record = keep_(std::move(checkpoint));
        const std::lock_guard lock(mutex_);
        kept_.push_back(std::move(record));
      }) {}

std::vector<CheckpointRecord> Conductor::taken() {
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
