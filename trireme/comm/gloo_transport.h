// SPDX-License-Identifier: Apache-2.0
// Our connections as a transport of Gloo's, so that its collectives run over them.
#pragma once

#include <gloo/context.h>

#include <memory>

#include "trireme/comm/links.h"

namespace trireme::comm {

// The links must outlive it. Faults come out of the collectives as Error.
std::shared_ptr<gloo::Context> gloo_context(Links& links);

}  // namespace trireme::comm
