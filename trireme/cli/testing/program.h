// SPDX-License-Identifier: Apache-2.0
// The program as a user runs it, in the test's own process.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "trireme/cli/application.h"

namespace trireme::cli {

struct Result {
  int code = 0;
  std::string out;
  std::string err;
};

// With `arguments` after the program's name.
inline Result run(const std::vector<std::string>& arguments) {
  std::vector<const char*> words{"trireme"};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream err;
  const int code = run_application(static_cast<int>(words.size()), words.data(), {.out = out, .err = err});
  return {code, out.str(), err.str()};
}

}  // namespace trireme::cli
