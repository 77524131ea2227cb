// SPDX-License-Identifier: Apache-2.0
// What a command's arguments are declared with. CLI11 stands behind it and is seen by one file only: each file that includes it takes
// seconds more to compile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace trireme::cli {

// An option, flag or positional argument. Each call refines it.
class Argument {
 public:
  explicit Argument(CLI::Option& option) : option_(&option) {}

  Argument& shown_as(std::string_view name);  // in the help: "FILE" instead of TEXT
  Argument& shows_default();
  Argument& hidden();  // not in the help
  Argument& required();
  Argument& one_at_a_time();               // --set a --set b: what follows a value is another argument
  Argument& separated_by(char separator);  // 4,2,1
  Argument& between(std::int64_t least, std::int64_t most);
  Argument& between(int least, int most) { return between(std::int64_t{least}, std::int64_t{most}); }
  Argument& between(double least, double most);
  Argument& not_negative();
  Argument& positive();
  Argument& one_of(std::initializer_list<std::string_view> values);
  Argument& needs(std::string_view other);
  Argument& excludes(std::string_view other);

 private:
  CLI::Option* option_;
};

// The arguments of a command, or of one of its sub-commands. `names` are as they are typed, "-n,--nodes"; without dashes it is
// positional. A value that is not given stays as it is.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(&app) {}

  Argument flag(std::string_view names, bool& value, std::string_view help);
  Argument option(std::string_view names, std::string& value, std::string_view help);
  Argument option(std::string_view names, std::filesystem::path& value, std::string_view help);
  Argument option(std::string_view names, int& value, std::string_view help);
  Argument option(std::string_view names, std::int64_t& value, std::string_view help);
  Argument option(std::string_view names, double& value, std::string_view help);
  Argument option(std::string_view names, std::vector<std::string>& values, std::string_view help);
  Argument option(std::string_view names, std::vector<std::filesystem::path>& values, std::string_view help);
  Argument option(std::string_view names, std::vector<double>& values, std::string_view help);

  // One of the sub-commands must be given.
  Arguments subcommand(std::string_view name, std::string_view summary);
  // One that may be left out; the command then does something by itself.
  Arguments optional_subcommand(std::string_view name, std::string_view summary);
  bool is_given() const;  // this sub-command, on the command line

 private:
  CLI::App* app_;
};

}  // namespace trireme::cli
