// SPDX-License-Identifier: Apache-2.0
// The command lines of ssh, and what its failures mean. Pure: nothing is run here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster {

// ssh that never asks, never trusts a changed host key, and gives up after the connect timeout. `script` is run by sh
// on the machine, whatever the user's login shell is; it is one line without ' \ or !, which shells read differently.
std::vector<std::string> ssh_command(const Machine& machine, const LaunchOptions& options, std::string_view script);

// Where a binary with this SHA-256 is on every machine; for the double quotes of a script.
std::string remote_folder(std::string_view hash);

enum class Libraries { of_the_machine, shipped };

// Runs the shipped binary in the place of the shell. Arguments are plain words.
std::string start_script(std::string_view hash, const std::vector<std::string>& arguments, Libraries libraries);

// A failed ssh (exit code 255) in words: what happened and what to do. `messages` is what it wrote to standard error.
Error ssh_failure(const Machine& machine, std::string_view messages);

// "ann@h1" or "h1": as a user would type it, with the port if it is not ssh's own.
std::string login_of(const Machine& machine);

}  // namespace trireme::cluster
