// SPDX-License-Identifier: Apache-2.0
// This process: variables of its environment, and its program.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace trireme::run {

// Empty: it is not set.
std::string environment_variable(const char* name);

std::filesystem::path own_program();

// Whether a line there can be written anew: it is a terminal, and not one that shows escape codes as they are (TERM=dumb).
bool rewrites_lines(int descriptor);

// 0: it is no terminal, or one that does not say.
std::size_t terminal_columns(int descriptor);

}  // namespace trireme::run
