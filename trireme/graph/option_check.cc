// SPDX-License-Identifier: Apache-2.0
// Visitors that compare each option with its described limits.
#include "trireme/graph/option_check.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::graph {
namespace {

class OptionChecker final : public OptionVisitor {
 protected:
  void integer(std::string_view name, std::int64_t& value, std::string_view, std::int64_t min, std::int64_t max) override {
    if (value == 0 && min > 0) throw Error{invalid_argument, "needs {} ({} to {})", name, min, max};
    if (value < min || value > max) throw Error{invalid_argument, "{} = {}, must be {} to {}", name, value, min, max};
  }
  void real(std::string_view name, double& value, std::string_view, double min, double max) override {
    if (!(value >= min && value <= max)) throw Error{invalid_argument, "{} = {}, must be {} to {}", name, value, min, max};
  }
  void boolean(std::string_view, bool&, std::string_view) override {}
  void text(std::string_view name, std::string& value, std::string_view, const std::vector<std::string_view>& choices) override {
    if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
      throw Error{invalid_argument, "{} = \"{}\", must be one of {}", name, value, fmt::join(choices, ", ")};
  }
  void reals(std::string_view, std::vector<double>&, std::string_view) override {}
  void texts(std::string_view, std::vector<std::string>&, std::string_view) override {}
};

class RequiredLister final : public OptionVisitor {
 public:
  std::vector<std::string> names;

 protected:
  void integer(std::string_view name, std::int64_t& value, std::string_view, std::int64_t min, std::int64_t) override {
    if (value == 0 && min > 0) names.emplace_back(name);
  }
  void real(std::string_view, double&, std::string_view, double, double) override {}
  void boolean(std::string_view, bool&, std::string_view) override {}
  void text(std::string_view, std::string&, std::string_view, const std::vector<std::string_view>&) override {}
  void reals(std::string_view, std::vector<double>&, std::string_view) override {}
  void texts(std::string_view, std::vector<std::string>&, std::string_view) override {}
};

}  // namespace

void check_options(const OptionsType& type, std::any options) {
  OptionChecker checker;
  type.visit(options, checker);
}

std::vector<std::string> required_options(const OptionsType& type) {
  RequiredLister lister;
  std::any defaults = type.defaults();
  type.visit(defaults, lister);
  return lister.names;
}

}  // namespace trireme::graph
