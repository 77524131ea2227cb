// SPDX-License-Identifier: Apache-2.0
// Messages of nodes as events.
#pragma once

#include <optional>

#include "trireme/coord/coordinator.h"
#include "trireme/train/conductor/job_events.h"

namespace trireme::train {

// Nothing: no message that decides anything. Throws data_loss for bytes that are not what the message's kind says.
std::optional<JobEvent> report_of(const coord::Event& event);

}  // namespace trireme::train
