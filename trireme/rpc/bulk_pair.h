// SPDX-License-Identifier: Apache-2.0
// A bulk stream inside one process, for a server beside a worker.
#pragma once

#include <functional>
#include <memory>

#include "trireme/rpc/bulk.h"

namespace trireme::rpc {

// As if one side had opened a stream and the other had been asked for a listener, with its own end; the result is the end of the one
// who opened it. send() calls the other side's received() before it returns, with the body as it is, unless the other side is at it
// already: then the thread that called that does. close() calls closed() of both in the same way, and waiting messages are dropped if the
// code isn't ok. An Error of `opened` closes the stream. Nothing else closes it: an end that is just forgotten does not notify the other.
std::shared_ptr<BulkSession> bulk_pair(BulkListener listener, const std::function<BulkListener(std::shared_ptr<BulkSession>)>& opened);

}  // namespace trireme::rpc
