// SPDX-License-Identifier: Apache-2.0
// Bytes of a message as what they should be.
#pragma once

#include <string>

#include "trireme/base/error.h"

namespace trireme::train {

template <class Proto>
Proto parse_message(const std::string& bytes) {
  Proto message;
  if (!message.ParseFromString(bytes)) throw Error{data_loss, "{} bytes that are no {}", bytes.size(), message.GetTypeName()};
  return message;
}

}  // namespace trireme::train
