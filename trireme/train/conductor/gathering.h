// SPDX-License-Identifier: Apache-2.0
// Before the first generation: are enough nodes ready, and is there a reason to wait for more?
#pragma once

#include <cstddef>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/train/conductor/job_options.h"
#include "trireme/train/conductor/node_table.h"

namespace trireme::train {

inline constexpr Seconds kReturn{10};  // for nodes that have lost their coordinator to find the one that takes over

enum class Gathered { waiting, enough, too_few };
// `ready` nodes could be members after having `waited`.
Gathered check_gathered(const JobOptions& options, const NodeTable& nodes, std::size_t ready, Seconds waited);
// Which nodes are missing, why, and what to do.
std::string missing_text(const NodeTable& nodes, Seconds waited);

}  // namespace trireme::train
