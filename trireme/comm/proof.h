// SPDX-License-Identifier: Apache-2.0
// Each pair's two members prove to each other that they know the job's key, before anything else is sent.
#pragma once

#include <gloo/context.h>

#include <memory>
#include <string>
#include <vector>

#include "trireme/comm/communicator.h"
#include "trireme/comm/deadline.h"

namespace trireme::comm {

// Over every pair at once: both send a nonce, then an HMAC over generation, ranks and both nonces.
// Returns the addresses under which the peers appear here; throws unauthenticated if one can't prove itself, and Gloo's
// exceptions if it closes or keeps silent.
std::vector<std::string> prove_pairs(const std::shared_ptr<gloo::Context>& context, const Group& group, const Deadline& deadline);

}  // namespace trireme::comm
