// SPDX-License-Identifier: Apache-2.0
// Names of types, and their sizes.
#include "trireme/train/job/wire_choice.h"

namespace trireme::train {

comm::WireType wire_type(std::string_view name) {
  if (name == "bf16") return comm::WireType::bf16;
  return name == "f16" ? comm::WireType::f16 : comm::WireType::f32;
}

std::int64_t bytes_per_value(std::string_view name) { return wire_type(name) == comm::WireType::f32 ? 4 : 2; }

}  // namespace trireme::train
