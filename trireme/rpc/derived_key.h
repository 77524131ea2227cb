// SPDX-License-Identifier: Apache-2.0
// Keys of the curve P-256.
#pragma once

#include <string_view>

#include "trireme/rpc/openssl.h"

namespace trireme::rpc {

Key random_key();
// The same for the same secret (HKDF with SHA-256).
Key derived_key(std::string_view secret);

}  // namespace trireme::rpc
