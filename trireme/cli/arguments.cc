// SPDX-License-Identifier: Apache-2.0
// Arguments by CLI11.
#include "trireme/cli/arguments.h"

#include <CLI/CLI.hpp>

namespace trireme::cli {
namespace {

template <class Value>
Argument add(CLI::App& app, std::string_view names, Value& value, std::string_view help) {
  return Argument(*app.add_option(std::string(names), value, std::string(help)));
}

}  // namespace

Argument& Argument::shown_as(std::string_view name) {
  option_->type_name(std::string(name));
  return *this;
}

Argument& Argument::shows_default() {
  option_->capture_default_str();
  return *this;
}

Argument& Argument::hidden() {
  option_->group("");
  return *this;
}

Argument& Argument::required() {
  option_->required();
  return *this;
}

Argument& Argument::one_at_a_time() {
  option_->allow_extra_args(false);
  return *this;
}

Argument& Argument::separated_by(char separator) {
  option_->delimiter(separator);
  return *this;
}

Argument& Argument::between(std::int64_t least, std::int64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Argument& Argument::between(double least, double most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Argument& Argument::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

Argument& Argument::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Argument& Argument::one_of(std::initializer_list<std::string_view> values) {
  option_->check(CLI::IsMember(std::vector<std::string>(values.begin(), values.end())));
  return *this;
}

Argument& Argument::needs(std::string_view other) {
  option_->needs(std::string(other));
  return *this;
}

Argument& Argument::excludes(std::string_view other) {
  option_->excludes(std::string(other));
  return *this;
}

Argument Arguments::flag(std::string_view names, bool& value, std::string_view help) {
  return Argument(*app_->add_flag(std::string(names), value, std::string(help)));
}

Argument Arguments::option(std::string_view names, std::string& value, std::string_view help) { return add(*app_, names, value, help); }

Argument Arguments::option(std::string_view names, std::filesystem::path& value, std::string_view help) {
  return add(*app_, names, value, help);
}

Argument Arguments::option(std::string_view names, int& value, std::string_view help) { return add(*app_, names, value, help); }

Argument Arguments::option(std::string_view names, std::int64_t& value, std::string_view help) { return add(*app_, names, value, help); }

Argument Arguments::option(std::string_view names, double& value, std::string_view help) { return add(*app_, names, value, help); }

Argument Arguments::option(std::string_view names, std::vector<std::string>& values, std::string_view help) {
  return add(*app_, names, values, help);
}

Argument Arguments::option(std::string_view names, std::vector<std::filesystem::path>& values, std::string_view help) {
  return add(*app_, names, values, help);
}

Argument Arguments::option(std::string_view names, std::vector<double>& values, std::string_view help) {
  return add(*app_, names, values, help);
}

Arguments Arguments::subcommand(std::string_view name, std::string_view summary) {
  app_->require_subcommand(1);
  return Arguments(*app_->add_subcommand(std::string(name), std::string(summary)));
}

Arguments Arguments::optional_subcommand(std::string_view name, std::string_view summary) {
  app_->require_subcommand(0, 1);
  return Arguments(*app_->add_subcommand(std::string(name), std::string(summary)));
}

bool Arguments::is_given() const { return app_->parsed(); }

}  // namespace trireme::cli
