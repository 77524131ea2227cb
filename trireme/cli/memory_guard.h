// SPDX-License-Identifier: Apache-2.0
// Keeps what this process has in its memory, keys among it, out of core dumps and from other processes of the same user.
#pragma once

namespace trireme::cli {

// Of this process; what it starts decides for itself.
void forbid_core_dumps();

}  // namespace trireme::cli
