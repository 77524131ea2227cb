// SPDX-License-Identifier: Apache-2.0
// What limited a run, in one sentence with its numbers.
#pragma once

#include "trireme/report/judge/step_facts.h"

namespace trireme::report {

Limit limit_of(const StepFacts& facts);

}  // namespace trireme::report
