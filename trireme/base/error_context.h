// SPDX-License-Identifier: Apache-2.0
// Errors that pass a place which knows more than the one that found the fault: where in a file, of which layer, of which machine.
#pragma once

#include <string>

#include "trireme/base/error.h"

namespace trireme {

// Calls `action`; an error that it throws keeps its code and gets `context` before its text. An empty context changes nothing.
template <class Action>
decltype(auto) with_context(const std::string& context, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {  // thrown again at once: nothing is handled here
    if (context.empty()) throw;
    throw Error{error.code(), "{}: {}", context, error.what()};
  }
}

}  // namespace trireme
