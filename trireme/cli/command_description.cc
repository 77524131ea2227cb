// SPDX-License-Identifier: Apache-2.0
// Reads what the commands declared back from CLI11.
#include "trireme/cli/command_description.h"

#include <CLI/CLI.hpp>

#include "trireme/cli/command_entry.h"

namespace trireme::cli {
namespace {

// What a check says of the values it lets pass: "{train,test}" or "INT in [1 - 64]".
struct Checks {
  std::vector<std::string> choices;
  std::vector<std::string> texts;
};

Checks checks_of(CLI::Option& option) {
  Checks checks;
  for (int i = 0;; ++i) {
    const CLI::Validator* check = nullptr;
    try {
      check = option.get_validator(i);
    } catch (const CLI::OptionNotFound&) {  // a foreign exception, which is how CLI11 says that there are no more
      return checks;
    }
    const std::string& text = checks.texts.emplace_back(check->get_description());
    if (text.starts_with('{')) checks.choices = CLI::detail::split(text.substr(1, text.size() - 2), ',');
  }
}

ArgumentDescription describe(CLI::Option& option) {
  ArgumentDescription argument{.help = option.get_description(), .default_value = option.get_default_str()};
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  argument.is_positional = !option.nonpositional();
  if (argument.is_positional) argument.names.push_back(option.get_name(true));
  argument.is_required = option.get_required();
  argument.is_hidden = option.get_group().empty();
  Checks checks = checks_of(option);
  argument.takes_value = option.get_items_expected_max() != 0;
  argument.takes_many = option.get_items_expected_max() > 1;
  argument.repeats = argument.takes_many && (argument.is_positional || option.get_allow_extra_args());
  argument.value = option.get_type_name();  // and behind it ":" and the text of each check
  for (const std::string& text : checks.texts)
    if (!text.empty()) argument.value.resize(argument.value.size() - text.size() - 1);
  argument.choices = std::move(checks.choices);
  if (argument.choices.empty() && !checks.texts.empty()) argument.limits = checks.texts.front();
  return argument;
}

CommandDescription describe(CLI::App& app, bool is_hidden) {
  CommandDescription command{.name = app.get_name(),
                             .summary = app.get_description(),
                             .needs_subcommand = app.get_require_subcommand_min() > 0,
                             .is_hidden = is_hidden};
  for (CLI::Option* option : app.get_options()) command.arguments.push_back(describe(*option));
  for (CLI::App* subcommand : app.get_subcommands([](CLI::App*) { return true; }))
    command.subcommands.push_back(describe(*subcommand, false));
  return command;
}

}  // namespace

std::vector<CommandDescription> describe_commands() {
  std::vector<CommandDescription> commands;
  for (const CommandEntry& entry : commands::catalog()) {
    CLI::App app(std::string(entry.summary), std::string(entry.name));
    Arguments arguments(app);
    entry.declare(arguments);
    commands.push_back(describe(app, entry.is_hidden));
  }
  return commands;
}

}  // namespace trireme::cli
