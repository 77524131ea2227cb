// SPDX-License-Identifier: Apache-2.0
// --strategy: another strategy than the job's, with what of the job's [strategy] still makes sense.
#pragma once

#include <string>

#include "trireme/base/config.h"

namespace trireme::run {

// A name ("ps") takes over the options that it knows from the job; a text with options ("ps:ssp:4,servers=2") only those that all
// strategies share.
void choose_strategy(Config& config, const std::string& text);

}  // namespace trireme::run
