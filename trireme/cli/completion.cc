// SPDX-License-Identifier: Apache-2.0
// Finds which argument a word belongs to; completion_values.h knows its values.
#include "trireme/cli/completion.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "trireme/cli/completion_values.h"

namespace trireme::cli {
namespace {

bool has_name(const ArgumentDescription& argument, std::string_view name) {
  return std::find(argument.names.begin(), argument.names.end(), name) != argument.names.end();
}

// Walks over the words before the one to be completed.
class Line {
 public:
  explicit Line(const std::vector<CommandDescription>& commands) : commands_(&commands) {}

  void pass(const std::string& word) {
    if (command_ == nullptr) return enter(*commands_, word);
    if (pending_ != nullptr && (is_only_positional_ || !word.starts_with('-'))) {
      if (!pending_->repeats) pending_ = nullptr;
      return;
    }
    pending_ = nullptr;
    if (word == "--") {
      is_only_positional_ = true;
    } else if (word.starts_with('-') && !is_only_positional_) {
      pass_option(word);
    } else if (command_->needs_subcommand || find_command(command_->subcommands, word) != nullptr) {
      enter(command_->subcommands, word);
    } else {
      ++positional_;
    }
  }

  Completions complete(const std::string& word) const {
    if (is_lost_) return {};
    if (command_ == nullptr) return {.candidates = word.starts_with('-') ? of_program() : of_commands(*commands_)};
    const std::size_t equals = word.find('=');
    if (!is_only_positional_ && word.starts_with("--") && equals != std::string::npos) return after_equals(word, equals);
    if (!is_only_positional_ && word.starts_with('-')) return {.candidates = of_options(word)};
    if (pending_ != nullptr) return values_of(*pending_, word);
    return positional(word);
  }

 private:
  static const CommandDescription* find_command(const std::vector<CommandDescription>& commands, const std::string& word) {
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const CommandDescription& c) { return c.name == word; });
    return found == commands.end() ? nullptr : &*found;
  }

  void enter(const std::vector<CommandDescription>& commands, const std::string& word) {
    if (const CommandDescription* found = find_command(commands, word))
      command_ = found;
    else
      is_lost_ = true;  // there is no such command, so nothing can be said about its arguments
  }

  const ArgumentDescription* find(std::string_view name) const {
    const auto& all = command_->arguments;
    const auto found = std::find_if(all.begin(), all.end(), [&](const ArgumentDescription& a) { return has_name(a, name); });
    return found == all.end() ? nullptr : &*found;
  }

  void pass_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const ArgumentDescription* option = find(word.substr(0, equals));
    if (option == nullptr) return;
    given_.insert(option);
    if (option->takes_value && equals == std::string::npos) pending_ = option;
  }

  static std::vector<Candidate> of_program() { return {{"--help", "print help"}, {"--version", "print the version"}}; }

  static std::vector<Candidate> of_commands(const std::vector<CommandDescription>& commands) {
    std::vector<Candidate> candidates;
    for (const CommandDescription& command : commands)
      if (!command.is_hidden) candidates.push_back({command.name, command.summary});
    return candidates;
  }

  // One name of each, a long one if it has any: nobody wants both.
  std::vector<Candidate> of_options(const std::string& word) const {
    std::vector<Candidate> candidates;
    for (const ArgumentDescription& option : command_->arguments) {
      if (option.is_positional || option.is_hidden || (given_.contains(&option) && !option.takes_many)) continue;
      const auto name = std::find_if(option.names.begin(), option.names.end(),
                                     [&](const std::string& n) { return n.starts_with("--") && n.starts_with(word); });
      candidates.push_back({name == option.names.end() ? option.names.front() : *name, option.help});
    }
    return candidates;
  }

  Completions after_equals(const std::string& word, std::size_t equals) const {
    const ArgumentDescription* option = find(word.substr(0, equals));
    if (option == nullptr) return {};
    Completions completions = values_of(*option, word.substr(equals + 1));
    for (Candidate& candidate : completions.candidates) candidate.text.insert(0, word, 0, equals + 1);
    return completions;
  }

  Completions positional(const std::string& word) const {
    if (command_->needs_subcommand) return {.candidates = of_commands(command_->subcommands)};
    Completions completions = argument_in_place(word);
    const std::vector<Candidate> commands = positional_ == 0 ? of_commands(command_->subcommands) : std::vector<Candidate>{};
    completions.candidates.insert(completions.candidates.begin(), commands.begin(), commands.end());
    return completions;
  }

  Completions argument_in_place(const std::string& word) const {
    std::size_t place = 0;
    for (const ArgumentDescription& argument : command_->arguments) {
      if (!argument.is_positional) continue;
      if (place == positional_ || argument.repeats) return values_of(argument, word);
      ++place;
    }
    return is_only_positional_ ? Completions{} : Completions{.candidates = of_options(word)};
  }

  const std::vector<CommandDescription>* commands_;
  const CommandDescription* command_ = nullptr;
  const ArgumentDescription* pending_ = nullptr;  // an option whose value comes next
  std::set<const ArgumentDescription*> given_;
  std::size_t positional_ = 0;  // positional arguments so far
  bool is_only_positional_ = false;
  bool is_lost_ = false;
};

std::string_view name_of(Paths paths) {
  if (paths == Paths::files) return "files";
  return paths == Paths::folders ? "folders" : "none";
}

// A candidate is a line, and its help the rest of it.
std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

}  // namespace

Completions complete(const std::vector<CommandDescription>& commands, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  Line line(commands);
  for (auto word = words.begin(); word + 1 != words.end(); ++word) line.pass(*word);
  Completions completions = line.complete(words.back());
  std::erase_if(completions.candidates, [&](const Candidate& c) { return !c.text.starts_with(words.back()); });
  return completions;
}

std::string to_lines(const Completions& completions) {
  std::string text(name_of(completions.paths));
  for (const std::string& ending : completions.endings) text += " " + ending;
  text += "\n";
  for (const Candidate& candidate : completions.candidates) text += on_one_line(candidate.text) + "\t" + on_one_line(candidate.help) + "\n";
  return text;
}

}  // namespace trireme::cli
