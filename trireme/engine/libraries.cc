// SPDX-License-Identifier: Apache-2.0
// The versions of oneDNN and hwloc.
#include "trireme/engine/libraries.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace trireme::engine {

std::vector<LibraryVersion> libraries() {
  const dnnl_version_t& dnnl = *dnnl_version();
  const unsigned hwloc = ::hwloc_get_api_version();  // 0x00020800
  return {{"oneDNN", fmt::format("{}.{}.{}", dnnl.major, dnnl.minor, dnnl.patch)},
          {"hwloc", fmt::format("{}.{}.{}", hwloc >> 16U, hwloc >> 8U & 0xffU, hwloc & 0xffU)}};
}

}  // namespace trireme::engine
