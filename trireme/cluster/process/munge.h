// SPDX-License-Identifier: Apache-2.0
// MUNGE: credentials that only this user's processes can read, on machines whose daemons share a key. Every Slurm has it.
#pragma once

#include <string>

namespace trireme::cluster {

// A line that holds the secret encrypted, for this user alone and for a few minutes; a machine's daemon decodes it once. `socket` is the
// daemon's; empty: where munge looks by itself. Throws unavailable if there is no munge here, or its daemon does not answer.
std::string munge_encode(const std::string& secret, const std::string& socket);
// The secret; throws unauthenticated in munge's words if it is another user's, too old, changed, or was decoded before.
std::string munge_decode(const std::string& credential, const std::string& socket);

}  // namespace trireme::cluster
