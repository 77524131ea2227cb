// SPDX-License-Identifier: Apache-2.0
// For tests: what an action says when it fails.
#pragma once

#include <string>

#include "trireme/base/error.h"

namespace trireme {

// "invalid_argument: the message", or "no error".
template <class Action>
std::string thrown_error(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.code()), error.what());
  }
  return "no error";
}

}  // namespace trireme
