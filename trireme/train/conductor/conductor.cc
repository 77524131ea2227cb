// SPDX-License-Identifier: Apache-2.0
// What the coordinator's server calls, and a run.
#include "trireme/train/conductor/conductor.h"

#include <utility>

#include "trireme/train/conductor/conductor_loop.h"

namespace trireme::train {

Conductor::Conductor(std::int64_t max_checkpoint_bytes, Keep keep, const Clock& clock)
    : clock_(clock), keep_(std::move(keep)), desk_(max_checkpoint_bytes, [this](Checkpoint checkpoint) {
        try {
          const std::optional<CheckpointRecord> record = keep_(std::move(checkpoint));
          post(record ? JobEvent(*record) : JobEvent(CheckpointFailed{}));
          return record.has_value();
        } catch (const Error& error) {  // a handler of requests: the job gets it as an event, too
          post(CheckpointFailed{error});
          throw;  // as what it is: the worker must not take a full disk here for a peer that is gone
        }
      }) {}

void Conductor::post(JobEvent event) {
  const std::lock_guard lock(mutex_);
  inbox_.push_back(std::move(event));
}

std::vector<JobEvent> Conductor::take_inbox() {
  const std::lock_guard lock(mutex_);
  return std::exchange(inbox_, {});
}

std::vector<coord::Coordinator::Method> Conductor::methods() {
  using Callers = coord::Coordinator::Method::Callers;
  return {
      {.name = std::string(kPutCheckpoint),
       .callers = Callers::members,
       .handler = [this](const std::string&, const std::string& request) { return desk_.put(request); }},
      {.name = std::string(kGetCheckpoint),
       .callers = Callers::members,
       .handler = [this](const std::string&, const std::string& request) { return desk_.get(request); }},
      {.name = std::string(kSwitchMethod), .callers = Callers::users, .handler = [this](const std::string&, const std::string& request) {
         return on_switch_request(unpack_switch_request(request));
       }}};
}

std::string Conductor::on_switch_request(SwitchRequest request) {
  parse_team_strategy(request.to, "--to");
  post(std::move(request));
  return "";
}

SessionResult Conductor::run(coord::Coordinator& coordinator, const ConductorOptions& options, Observer& observer,
                             const std::atomic<int>& stop) {
  return ConductorLoop(*this, coordinator, options, observer, stop).run();
}

}  // namespace trireme::train
