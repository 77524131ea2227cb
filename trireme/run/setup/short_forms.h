// SPDX-License-Identifier: Apache-2.0
// What people type first, in the form that the rest of the program reads: `optimizer = "adam"` is a table with that name.
#pragma once

#include <string>

#include "trireme/base/config.h"

namespace trireme::run {

// model, data and strategy as a name; in [train] optimizer and schedule as a name, and learning_rate, which is the optimizer's.
// An option of the optimizer, the schedule or early stopping that stands in [train] is refused with the place where it belongs.
void expand_short_forms(Config& job);

// The setting that `key` means: train.learning_rate is one of train.optimizer.
std::string full_key(const std::string& key);

}  // namespace trireme::run
