// SPDX-License-Identifier: Apache-2.0
// Gathering, one generation after another, and when to give up.
#include "trireme/train/conductor/conducting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "trireme/base/failpoint.h"

namespace trireme::train {
namespace {

constexpr Seconds kReturn{10};  // for nodes that have lost their coordinator to find the one that takes over
constexpr Seconds kAcknowledge{1};
constexpr int kStrikes = 2;  // a pair that can't reach each other so often is parted

}  // namespace

Conducting::Conducting(Conductor& conductor, coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer,
                       const std::atomic<int>& stop)
    : conductor_(conductor),
      coordinator_(coordinator),
      options_(options),
      observer_(observer),
      stop_(stop),
      clock_(conductor.clock_),
      roll_({.nodes = options.nodes, .restarts = options.restarts, .startable = options.startable}, clock_),
      troubles_(options.silence, clock_),
      generation_(options.last_generation),
      stragglers_(options.policies.straggler, clock_),
      stalls_(options.stuck),
      plan_(options.plan),
      checkpoint_clock_(Seconds(options.checkpoint_seconds), clock_) {
  begin_switch_policy();
}

SessionResult Conducting::run() {
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

void Conducting::gather() {
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
bool Conducting::is_complete(Seconds waited) const {
  const std::size_t ready = members_now().size();
  if (ready >= wanted()) return true;
  if (std::ranges::any_of(roll_.all(), [&](const std::string& node) { return may_still_come(node, waited); })) return false;
  const auto enough = static_cast<std::size_t>(options_.takes_over ? options_.min_nodes : options_.start_nodes);
  if (enough > 0 && ready >= enough) return true;
  throw Error{deadline_exceeded, "{}", missing_text(waited)};
}

bool Conducting::may_still_come(const std::string& node, Seconds waited) const {
  const bool returns = options_.takes_over && !options_.startable.contains(node);
  return !roll_.is_ready(node) && !roll_.is_left_out(node) && waited < (returns ? kReturn : options_.start_timeout);
}

std::size_t Conducting::wanted() const {
  const std::size_t all = options_.nodes.size();
  return options_.max_nodes > 0 ? std::min(all, static_cast<std::size_t>(options_.max_nodes)) : all;
}

// Also one that is back already and has its pause before it.
bool Conducting::anybody_may_come() const {
  const std::vector<std::string> now = members_now();
  return std::ranges::any_of(roll_.all(), [&](const std::string& node) {
    return !roll_.is_left_out(node) && !leaving_.contains(node) && std::ranges::find(now, node) == now.end();
  });
}

std::string Conducting::missing_text(Seconds waited) const {
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

void Conducting::tend() {
  tell_checkpoints();
  acknowledge_records();
  start_due_nodes();
  take_wishes();
  look_for_stalls();
  if (troubles_.are_due()) return go_on_without_the_lost();
  if (troubles_.any()) return;
  if (waiting_since_) return look_whether_enough_came();
  ask_workers();
}

// Those who could be members now, in order of ranks.
std::vector<std::string> Conducting::members_now() const {
  std::vector<std::string> out = roll_.available();
  std::erase_if(out, [&](const std::string& node) { return leaving_.contains(node); });
  place_stragglers(out);
  if (options_.max_nodes > 0 && out.size() > static_cast<std::size_t>(options_.max_nodes)) {
    std::vector<std::string> chosen = out;
    std::stable_partition(chosen.begin(), chosen.end(), [&](const std::string& node) { return is_member(node); });  // who is in stays in
    chosen.resize(static_cast<std::size_t>(options_.max_nodes));
    std::erase_if(out, [&](const std::string& node) { return std::ranges::find(chosen, node) == chosen.end(); });
  }
  return out;
}

bool Conducting::is_member(const std::string& node) const { return std::ranges::find(members_, node) != members_.end(); }

int Conducting::rank_of(const std::string& node) const { return static_cast<int>(std::ranges::find(members_, node) - members_.begin()); }

void Conducting::announce(const std::vector<std::string>& nodes) {
  coord::Generation generation{.number = ++generation_, .plan = pack(plan_)};
  for (const std::string& node : nodes) {
    const coord::NodeInfo& info = *roll_.info(node);
    generation.members.push_back({.node = node, .host = info.host, .address = info.address});
  }
  members_ = nodes;
  is_same_team_ = false;
  lead_ = nodes.front();
  conductor_.desk_.begin_generation(generation.number);
  event("generation",
        {{"generation", static_cast<std::int64_t>(generation.number)}, {"members", fmt::format("{}", fmt::join(nodes, " "))}});
  if (options_.announced) options_.announced(generation);
  failpoint("coord.after_log_before_reply");
  for (const std::string& node : nodes) tell_what_is_recorded(node);
  coordinator_.announce(generation);
  troubles_.clear();
  waiting_since_.reset();
  told_to_stop_ = asked_to_pause_ = has_progressed_ = has_entered_ = false;
  checkpoint_clock_.begin_generation();
}

void Conducting::go_on_without_the_lost() {
  for (const auto& [node, blame] : troubles_.blames()) tell(node, blame);
  throw_if_everybody_failed();
  if (troubles_.blames().empty() && troubles_.first_complaint()) part_a_pair(*troubles_.first_complaint());
  troubles_.clear();
  announce_or_wait();
}

// An error that all workers meet is the job's, not a machine's.
void Conducting::throw_if_everybody_failed() const {
  const auto& blames = troubles_.blames();
  const bool all = std::ranges::all_of(members_, [&](const std::string& node) {
    const auto found = blames.find(node);
    return found != blames.end() && found->second.certainty == Blame::Certainty::own_error;
  });
  if (all && !members_.empty()) throw as_error(members_.front(), blames.at(members_.front()));
}

// Both are here, but can't reach each other. The first time it may have been a moment's trouble. Whoever can't say whom it misses has
// lost more than one of them: its own connection is the likelier cause.
void Conducting::part_a_pair(const Complaint& complaint) {
  const std::string& guilty = complaint.about.empty() ? complaint.by : complaint.about;
  const int strikes = ++strikes_[guilty];
  options_.say(fmt::format("{} misses {}, but both are here ({}): trying again{}", title(complaint.by),
                           complaint.about.empty() ? "somebody" : title(complaint.about), complaint.text,
                           strikes < kStrikes ? "" : fmt::format(" without {} for a while", title(guilty))));
  if (strikes >= kStrikes) roll_.exclude(guilty);
}

void Conducting::announce_or_wait() {
  const std::vector<std::string> next = members_now();
  if (next.size() >= static_cast<std::size_t>(options_.min_nodes)) return announce(next);
  if (quorum_lost_) return give_up(next);
  waiting_since_ = clock_.now();
  options_.say(fmt::format("{} of at least {} here: waiting for more", fmt::format("{} node{}", next.size(), next.size() == 1 ? "" : "s"),
                           options_.min_nodes));
}

void Conducting::look_whether_enough_came() {
  const std::vector<std::string> next = members_now();
  if (next.size() >= static_cast<std::size_t>(options_.min_nodes)) return announce(next);
  if (stop_ != 0 || !anybody_may_come() || clock_.now() - *waiting_since_ > options_.start_timeout) give_up(next);
}

// What the last ones know is kept; then it ends, to be resumed with more machines.
void Conducting::give_up(const std::vector<std::string>& last_ones) {
  quorum_lost_ = stop_ == 0;
  if (!last_ones.empty()) return announce(last_ones);
  if (stop_ == 0 && last_blame_) throw Error{*last_blame_};
  finish_ = Finish{.interrupted = true, .cursor = conductor_.cursor_};
}

// What is asked of the one that leads is agreed by all in the step that follows, or when they meet. Who leads is known once they
// have entered: another node's request would not be heard in a stretch of leases.
void Conducting::ask_workers() {
  if (!has_entered_) return;
  if ((stop_ != 0 || quorum_lost_) && !std::exchange(told_to_stop_, true)) return request({.stop = true});
  if (told_to_stop_) return;
  if (checkpoint_clock_.is_due()) {
    checkpoint_clock_.request();
    request({.checkpoint = true});
  }
  if (!asked_to_pause_ && (somebody_comes_or_goes() || change_)) {
    asked_to_pause_ = true;
    request({.regroup = true});
  }
}

// Asked for by hand, on a thread of the coordinator's server.
void Conducting::take_wishes() {
  for (SwitchWish& wish : conductor_.taken_wishes()) {
    detour_.reset();
    switch_to(parse_strategy(wish.to, "--to"), wish.resets_slots, "by hand");
  }
}

void Conducting::switch_to(StrategyPart strategy, bool resets_slots, std::string why) {
  change_ = Change{.strategy = std::move(strategy), .resets_slots = resets_slots, .why = std::move(why)};
}

// All stand there.
void Conducting::change_plan(const Cursor& cursor) {
  if (!change_) return;
  plan_.change(cursor.samples_seen, std::move(change_->strategy), change_->resets_slots, std::move(change_->why));
  for (Phase& phase : change_->later)
    if (phase.begin > cursor.samples_seen) plan_.phases.push_back(std::move(phase));
  change_.reset();
}

bool Conducting::somebody_comes_or_goes() const {
  const std::vector<std::string> next = members_now();
  return next != members_ && next.size() >= static_cast<std::size_t>(options_.min_nodes);
}

void Conducting::request(const Requests& requests) {
  if (members_.empty()) return;
  coordinator_.send(lead_, {.kind = std::string(kRequest), .bytes = pack(requests)});
}

// Nodes remember what they told until it is written. Once a second is enough: they remember more than that.
void Conducting::acknowledge_records() {
  const std::int64_t step = conductor_.cursor_.step;
  if (!has_entered_ || step == acknowledged_step_ || clock_.now() - acknowledged_at_ < kAcknowledge) return;
  acknowledged_step_ = step;
  acknowledged_at_ = clock_.now();
  if (options_.write_records) options_.write_records();
  for (const std::string& node : members_) tell_what_is_recorded(node);
}

void Conducting::tell_what_is_recorded(const std::string& node) {
  coordinator_.send(node, {.kind = std::string(kRecorded), .bytes = pack(conductor_.cursor_)});
}

void Conducting::start_due_nodes() {
  if (finish_ || told_to_stop_) return;
  if (options_.more)
    for (const std::string& node : options_.more()) roll_.add(node);
  for (const std::string& node : roll_.due()) {
    // The others are spare.
    if (options_.max_nodes > 0 && roll_.present() >= static_cast<std::size_t>(options_.max_nodes)) return;
    const int failures = roll_.failures(node);
    if (failures > 0) {
      options_.say(fmt::format("starting node {} again (failure {} in a row)", node, failures));
      event("relaunch", {{"node", node}, {"failures", std::int64_t{failures}}});
    }
    roll_.launched(node);
    try {
      options_.start(node);
    } catch (const Error& error) {
      on_failed_start(node, error);
    }
  }
}

// This machine may be short of processes or descriptors for a moment: no reason to end a job that others work on. Before there is
// such a job, the user hears of it at once.
void Conducting::on_failed_start(const std::string& node, const Error& error) {
  if (is_gathering_ && !options_.takes_over) throw Error(error);
  roll_.process_ended(node);
  last_words_[node] = fmt::format("could not be started: {}", error.what());
  options_.say(fmt::format("node {} {}; it is tried again later", node, last_words_[node]));
}

}  // namespace trireme::train
