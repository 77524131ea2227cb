// SPDX-License-Identifier: Apache-2.0
// How fast the kernel sees a connection deliver.
#pragma once

#include "trireme/comm/socket.h"

namespace trireme::comm {

// Bytes per second that the other machine has lately acknowledged while there was something to send; while there was not, the best that
// was seen. 0: not known.
double delivery_rate(const Socket& socket);

}  // namespace trireme::comm
