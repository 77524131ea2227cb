// SPDX-License-Identifier: Apache-2.0
// The commands and their arguments as data, as they were declared: completion and manual pages are made from it.
#pragma once

#include <string>
#include <vector>

namespace trireme::cli {

struct ArgumentDescription {
  std::vector<std::string> names;  // "-n", "--nodes"; a positional argument has one, without dashes
  std::string value;               // the word for its value: COUNT
  std::string help;
  std::string default_value;  // empty: not shown
  std::string limits;         // "INT in [1 - 64]"; empty: none
  std::vector<std::string> choices;
  bool takes_value = false;
  bool takes_many = false;  // it may be given several times
  bool repeats = false;     // several values may follow each other
  bool is_positional = false;
  bool is_required = false;
  bool is_hidden = false;
};

struct CommandDescription {
  std::string name;
  std::string summary;
  std::vector<ArgumentDescription> arguments;
  std::vector<CommandDescription> subcommands;
  bool needs_subcommand = false;  // it does nothing by itself
  bool is_hidden = false;
};

// All commands of the catalogue, in its order.
std::vector<CommandDescription> describe_commands();

}  // namespace trireme::cli
