// SPDX-License-Identifier: Apache-2.0
// Bytes that were sent in a step, beside what the strategy must send.
#pragma once

#include <optional>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

// By all nodes together in one step; none if nothing was exchanged or measured.
std::optional<Traffic> traffic_of(const RunDocument& document);

}  // namespace trireme::report
