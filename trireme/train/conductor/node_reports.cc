// SPDX-License-Identifier: Apache-2.0
// By the kind of the message.
#include "trireme/train/conductor/node_reports.h"

#include <utility>

namespace trireme::train {
namespace {

template <class Content>
JobEvent in_generation(const coord::Event& event, Content content) {
  return GenerationReport{event.node, event.generation, std::move(content)};
}

}  // namespace

std::optional<JobEvent> report_of(const coord::Event& event) {
  const std::string& kind = event.message.kind;
  const std::string& bytes = event.message.bytes;
  // What has happened, which stays true in another generation.
  if (kind == kStepReport) return unpack_step(bytes);
  if (kind == kEpochReport) return unpack_epoch(bytes);
  if (kind == kServerReport) return unpack_server(bytes);
  if (kind == kSwitchReport) return unpack_switch(bytes);
  // What means something only to the generation in which it was sent: it may have been queued just before the next one was announced.
  if (kind == kEnteredReport) return in_generation(event, Entered{unpack_cursor(bytes)});
  if (kind == kPausedReport) return in_generation(event, Paused{unpack_cursor(bytes)});
  if (kind == kLeavingReport) return in_generation(event, Leaving{});
  if (kind == kFinishReport) return in_generation(event, unpack_finish(bytes));
  if (kind == kStragglerReport) return in_generation(event, unpack_straggler(bytes));
  if (kind == kSlowLinkReport) return in_generation(event, unpack_slow_link(bytes));
  return std::nullopt;
}

}  // namespace trireme::train
