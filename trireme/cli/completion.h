// SPDX-License-Identifier: Apache-2.0
// Completion of a command line, for any shell: the scripts of completion_scripts.h ask for it at each Tab.
#pragma once

#include <string>
#include <vector>

#include "trireme/cli/command_description.h"

namespace trireme::cli {

struct Candidate {
  std::string text;  // the whole word
  std::string help;
  bool operator==(const Candidate&) const = default;
};

// The shell itself completes paths: it knows about ~, quotes and hidden files.
enum class Paths { none, folders, files };

struct Completions {
  std::vector<Candidate> candidates;
  Paths paths = Paths::none;
  std::vector<std::string> endings;  // of files, "toml"; empty: any
};

// `words` are those after the program's name; the last one is to be completed and may be empty.
Completions complete(const std::vector<CommandDescription>& commands, const std::vector<std::string>& words);

// Lines for the scripts: first "none", "folders", "files" or "files toml png", then "TEXT<tab>HELP" for each candidate.
std::string to_lines(const Completions& completions);

}  // namespace trireme::cli
