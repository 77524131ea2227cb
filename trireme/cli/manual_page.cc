// SPDX-License-Identifier: Apache-2.0
// Writes roff, by the macros of man(7).
#include "trireme/cli/manual_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "trireme/base/version.h"

namespace trireme::cli {
namespace {

// Text that roff shall show as it is: dashes as they are typed, no line that begins like a request.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '"')
      out += "\\(dq";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

// "shows a run" -> "Shows a run."
std::string sentence(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text.ends_with('.') ? text : text + ".";
}

std::string title(const std::string& name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(".TH {} 1 \"\" \"trireme {}\" \"Trireme\"\n.nh\n.ad l\n", escaped(upper), version());
}

std::string heading(const std::string& name, const std::string& summary) {
  return fmt::format("{}.SH NAME\n{} \\- {}\n", title(name), escaped(name), escaped(summary));
}

// RUN, or {bash,zsh,fish}
std::string value_text(const ArgumentDescription& argument) {
  if (argument.choices.empty()) return italic(argument.value);
  std::string text;
  for (const std::string& choice : argument.choices) text += (text.empty() ? "" : "|") + bold(choice);
  return text;
}

std::string usage(const ArgumentDescription& argument) {
  if (argument.is_positional) {
    const std::string text = italic(argument.value == "TEXT" ? argument.names.front() : argument.value) + (argument.repeats ? " ..." : "");
    return argument.is_required ? text : "[" + text + "]";
  }
  return bold(argument.names.back()) + " " + italic(argument.value);
}

std::string synopsis(const std::string& name, const CommandDescription& command) {
  std::string text = bold(name);
  if (!command.subcommands.empty()) text += command.needs_subcommand ? " " + italic("COMMAND") : " [" + italic("COMMAND") + "]";
  for (const ArgumentDescription& argument : command.arguments)
    if (!argument.is_positional && argument.is_required) text += " " + usage(argument);
  text += " [" + italic("OPTION") + " ...]";
  for (const ArgumentDescription& argument : command.arguments)
    if (argument.is_positional) text += " " + usage(argument);
  return text + "\n";
}

std::string tag(const ArgumentDescription& argument) {
  if (argument.is_positional) return argument.choices.empty() ? usage(argument) : value_text(argument);
  std::string text;
  for (const std::string& name : argument.names) text += (text.empty() ? "" : ", ") + bold(name);
  return argument.takes_value ? text + " " + value_text(argument) : text;
}

std::string entry(const ArgumentDescription& argument) {
  std::string remarks;
  if (argument.is_required && !argument.is_positional) remarks += " Required.";
  if (!argument.default_value.empty()) remarks += fmt::format(" Default: {}.", escaped(argument.default_value));
  if (const auto range = argument.limits.find('['); range != std::string::npos)
    remarks += " In " + escaped(argument.limits.substr(range)) + ".";
  if (argument.takes_many && !argument.repeats) remarks += " May be given several times.";
  return fmt::format(".TP\n{}\n{}{}\n", tag(argument), escaped(sentence(argument.help)), remarks);
}

std::string entries(std::string_view request, std::string_view name, const CommandDescription& command, bool is_positional) {
  std::string text;
  for (const ArgumentDescription& argument : command.arguments)
    if (argument.is_positional == is_positional && !argument.is_hidden) text += entry(argument);
  return text.empty() ? text : fmt::format("{} {}\n{}", request, name, text);
}

std::string command_list(const std::vector<CommandDescription>& commands, const std::string& prefix, const std::string& suffix) {
  std::string text;
  for (const CommandDescription& command : commands)
    if (!command.is_hidden) text += fmt::format(".TP\n{}{}\n{}\n", bold(prefix + command.name), suffix, escaped(sentence(command.summary)));
  return text;
}

constexpr std::string_view kExitStatus = R"(.SH EXIT STATUS
.TP
\fB0\fR
It worked.
.TP
\fB1\fR
It failed.
.TP
\fB2\fR
Wrong use: an option, a setting or a file that does not exist.
.TP
\fB3\fR
Something must be there first, e.g. a machine that can be reached.
.TP
\fB4\fR
Too few nodes were left to go on.
.TP
\fB130\fR
Interrupted, with a checkpoint.
)";

}  // namespace

std::string manual_page(const std::vector<CommandDescription>& commands) {
  return heading("trireme", "trains neural networks on the machines you already have") +
         fmt::format(".SH SYNOPSIS\n{} {} [{} ...]\n", bold("trireme"), italic("COMMAND"), italic("ARGUMENT")) +
         ".SH DESCRIPTION\nTrireme trains neural networks on CPU machines: one, or many that divide the work.\nA job file (TOML) says what "
         "to train; " +
         bold("trireme list") + " prints everything that it can name, with all options.\n.SH COMMANDS\n" + command_list(commands, "", "") +
         fmt::format(".SH OPTIONS\n.TP\n{}, {}\nPrint help; also after a command.\n.TP\n{}\nPrint the version.\n", bold("-h"),
                     bold("--help"), bold("--version")) +
         std::string(kExitStatus) + ".SH FILES\n.TP\n\\fIruns/\\fR\nDirectories of trainings; \\fIruns/latest\\fR is the last one.\n.TP\n" +
         "\\fI~/.cache/trireme/\\fR\nPublic data sets, and what machines were brought.\n.SH SEE ALSO\n" + [&] {
           std::string text;
           for (const CommandDescription& command : commands)
             if (!command.is_hidden) text += (text.empty() ? "" : ",\n") + fmt::format("{}(1)", bold("trireme-" + command.name));
           return text + "\n";
         }();
}

std::string manual_page(const CommandDescription& command) {
  const std::string name = "trireme " + command.name;
  std::string text = heading("trireme-" + command.name, command.summary) + ".SH SYNOPSIS\n" + synopsis(name, command) +
                     ".SH DESCRIPTION\n" + escaped(sentence(command.summary)) + "\n";
  text += entries(".SH", "ARGUMENTS", command, true) + entries(".SH", "OPTIONS", command, false);
  for (const CommandDescription& sub : command.subcommands) {
    text += fmt::format(".SH {}\n{}\n.PP\n{}", escaped(sub.name), escaped(sentence(sub.summary)), synopsis(name + " " + sub.name, sub));
    text += entries(".SS", "Arguments", sub, true) + entries(".SS", "Options", sub, false);
  }
  return text + std::string(kExitStatus) + ".SH SEE ALSO\n" + bold("trireme") + "(1)\n";
}

}  // namespace trireme::cli
