// SPDX-License-Identifier: Apache-2.0
// doctor-agent: what `doctor` runs on each machine; not for people.
#include "trireme/cluster/doctor/doctor_agent.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "trireme/cli/command_entry.h"
#include "trireme/run/setup/own_process.h"

namespace trireme::cli::commands {
namespace {

Run declare(Arguments&) {
  return [](const run::Console& console) {
    constexpr unsigned kLongest = 600;  // seconds, should no process end us
    ::alarm(kLongest);
    cluster::serve_doctor(std::cin, console.out, run::own_program().parent_path());
    return 0;
  };
}

}  // namespace

CommandEntry doctor_agent() {
  return {.name = "doctor-agent", .summary = "answers the doctor's questions on a machine", .declare = declare, .is_hidden = true};
}

}  // namespace trireme::cli::commands
