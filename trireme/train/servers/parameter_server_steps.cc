// SPDX-License-Identifier: Apache-2.0
// A worker's step among parameter servers: what it computes goes out if it is finite.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/finite.h"
#include "trireme/train/servers/parameter_servers.h"
#include "trireme/train/team/non_finite.h"

namespace trireme::train {
namespace {

// What rounds to a number of this type.
float largest_on(comm::WireType wire) {
  constexpr float kHalf = 65519;  // from 65520 on it is infinity
  return wire == comm::WireType::f32 ? std::numeric_limits<float>::max() : wire == comm::WireType::f16 ? kHalf : 3.38e38F;
}

// The one that next() handed out for this batch.
ps::Lease lease_of(const data::Batch& batch) {
  const data::LeaseTag& tag = batch.lease;
  ensure(tag.id > 0, "a batch made for parameter servers carries its lease");
  return {.id = tag.id,
          .begin = batch.offset,
          .end = batch.offset + batch.size,
          .round = tag.round,
          .batch = tag.batch,
          .half = tag.half,
          .root = tag.root};
}

}  // namespace

// Nothing that is not a number leaves this node, be it by what it computed or by what the wire can hold.
bool ParameterServers::is_sendable(Replica& replica, std::size_t slice) const {
  const auto [offset, count] = std::pair(setup_.space[slice].offset, setup_.space[slice].count);
  const std::span<const float> gradient = replica.gradients().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
  return largest_magnitude(gradient) <= largest_on(rules_.wire);
}

// A round is void for all its workers: this one's statistics of the step forget it, too. In other modes that is the worker's own affair.
// `before`: that step.
bool ParameterServers::undo_statistics(const std::vector<float>& before) {
  if (!held_->client->reset_void() || before.size() != setup_.replica.states().size()) return false;
  setup_.replica.states() = before;
  unused_ += std::exchange(last_samples_, 0);
  return true;
}

// Gradients go out while backward still runs, unless the step may have to be skipped: a server that has a part of it has changed its
// values already.
engine::Outcome ParameterServers::compute(const StepInput& input, const ps::Lease& lease, double rate, Replica& replica) {
  ps::Client& client = *held_->client;
  bool begun = false;
  is_sound_ = true;
  states_before_ = std::exchange(states_, replica.states());
  return replica.compute(
      input.batch,
      [&](std::size_t slice) {
        is_sound_ = is_sound_ && is_sendable(replica, slice);
        if (input.skips_left > 0 || !is_sound_) return;
        // Not before: forward waits for the answers to the push before this one.
        if (!std::exchange(begun, true)) client.begin(lease, rate, input.batch.size);
        client.ready(slice);
      },
      {},
      [&](std::size_t slice) {
        const comm::PeerWait::Scope waits(setup_.team.neighbours().waits.get(), comm::PeerWait::kUnknownPeer);
        client.needed(slice);
        if (!undo_statistics(states_before_)) return;
        *input.states_before = states_before_;
        states_ = states_before_;
      });
}

// What has not gone out yet.
void ParameterServers::push(const StepInput& input, const ps::Lease& lease, double rate, bool is_sound, StepResult& result) {
  ps::Client& client = *held_->client;
  const int rank = setup_.team.rank();
  if (!is_sound) skip_or_throw(input, result.outcome.loss, std::array{rank}, result);
  if (input.skips_left <= 0) return;
  if (result.is_skipped) return client.push_void(lease, rate, input.batch.size);
  client.begin(lease, rate, input.batch.size);
  for (std::size_t slice = setup_.space.slices().size(); slice-- > 0;) client.ready(slice);
}

StepResult ParameterServers::run(const StepInput& input, Replica& replica) {
  ps::Client& client = *held_->client;
  const ps::Lease lease = lease_of(input.batch);
  const double rate = input.learning_rate * rate_factor();
  StepResult result;
  input.enter("compute");
  const Seconds start = setup_.clock.now();
  const double waited = client.waited();
  const double exchanged = client.exchanged();
  result.outcome = compute(input, lease, rate, replica);
  const double seconds = (setup_.clock.now() - start).count();
  const double wait = client.waited() - waited;
  push(input, lease, rate, is_sound_ && is_finite(result.outcome), result);
  // Forward waits for parameters; answers that come meanwhile are of the push before.
  result.times = {.forward = std::max(0.0, result.outcome.forward_seconds - wait),
                  .backward = seconds - std::max(wait, result.outcome.forward_seconds),
                  .exposed = wait,
                  .exchange = client.exchanged() - exchanged,
                  .staleness = client.staleness()};
  last_samples_ = result.is_skipped ? 0 : input.batch.size;
  client.report_step({.samples = result.outcome.samples,
                      .correct = result.outcome.correct,
                      .loss = result.outcome.loss,
                      .penalty = result.outcome.penalty,
                      .compute_seconds = result.times.compute(),
                      .wait_seconds = wait,
                      .seconds = seconds,
                      .is_skipped = result.is_skipped});
  return result;
}

}  // namespace trireme::train
