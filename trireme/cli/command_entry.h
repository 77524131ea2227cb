// SPDX-License-Identifier: Apache-2.0
// A command of the command line: each file of commands/ is one.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "trireme/cli/arguments.h"
#include "trireme/run/terminal/console.h"

namespace trireme::cli {

// What a command does once its options are parsed; the result is the exit code. Faults are thrown as Error.
using Run = std::function<int(const run::Console& console)>;

struct CommandEntry {
  std::string_view name;
  std::string_view summary;
  // Declares the command's arguments; the returned Run owns the variables they fill.
  Run (*declare)(Arguments& arguments) = nullptr;
  bool is_hidden = false;       // run by Trireme itself on machines, not by people: not in the help
  bool goes_on_unread = false;  // it does more than print: when nothing reads its output any more, it goes on
};

namespace commands {
const std::vector<CommandEntry>& catalog();
}

}  // namespace trireme::cli
