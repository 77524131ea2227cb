// SPDX-License-Identifier: Apache-2.0
// Runs a short script on a machine over ssh and separates its output from what the login itself prints.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster {

struct RemoteOutput {
  std::vector<std::string> lines;  // of the script
  std::string messages;            // standard error, of everything
  std::string noise;               // what the login printed before the script began
  int code = 0;                    // of the script
};

struct RemoteWork {
  std::string script;                // as for ssh_command
  std::chrono::milliseconds limit;   // from the script's beginning; the login before it has the connect timeout
  std::filesystem::path input_file;  // the script's input; empty: none
};

// Throws if the login fails, if it swallows the script, or if the time is over: in words, beginning with the machine's name.
RemoteOutput run_remotely(const Machine& machine, const LaunchOptions& options, const RemoteWork& work);

// Characters that distinguish one call from another; not for secrets.
std::string random_mark();

}  // namespace trireme::cluster
