// SPDX-License-Identifier: Apache-2.0
// Whether an error that ends a node's step is its own, or only the sign that a peer is gone.
#pragma once

#include "trireme/base/files.h"

namespace trireme::train {

// A peer that is gone, or silent, looks like this from here; whose fault it is only the coordinator can decide. A system call of this
// node that failed (a disk, a mount) is never a peer's fault, though its code may be the same.
inline bool blames_peer(const Error& error) {
  if (dynamic_cast<const SystemError*>(&error) != nullptr) return false;
  return error.code() == unavailable || error.code() == deadline_exceeded;
}

}  // namespace trireme::train
