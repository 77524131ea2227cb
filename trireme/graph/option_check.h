// SPDX-License-Identifier: Apache-2.0
// Range checks for options that were written in C++ or left out, and so never passed a reader of files.
#pragma once

#include <any>
#include <string>
#include <vector>

#include "trireme/base/options.h"

namespace trireme::graph {

// Throws invalid_argument naming the option, its value and its limits.
void check_options(const OptionsType& type, std::any options);

// Options that must be given: those whose default is 0 and outside their limits.
std::vector<std::string> required_options(const OptionsType& type);

}  // namespace trireme::graph
