// SPDX-License-Identifier: Apache-2.0
// This process: variables of its environment, and its program.
#pragma once

#include <filesystem>
#include <string>

namespace trireme::run {

// Empty: it is not set.
std::string environment_variable(const char* name);

std::filesystem::path own_program();

// Whether a line there can be written anew: it is a terminal, and not one that shows escape codes as they are (TERM=dumb).
bool rewrites_lines(int descriptor);

}  // namespace trireme::run
