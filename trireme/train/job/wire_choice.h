// SPDX-License-Identifier: Apache-2.0
// Numbers on the network, as the option `wire` of several strategies names them.
#pragma once

#include <cstdint>
#include <string_view>

#include "trireme/comm/communicator.h"

namespace trireme::train {

// "f32", "bf16" or "f16".
comm::WireType wire_type(std::string_view name);
std::int64_t bytes_per_value(std::string_view name);

}  // namespace trireme::train
