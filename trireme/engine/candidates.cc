// SPDX-License-Identifier: Apache-2.0
// Names oneDNN's implementations of an operation and leaves out its reference.
#include "trireme/engine/candidates.h"

#include <fmt/format.h>

#include <string>

namespace trireme::engine {

void add_candidates(std::vector<Candidate>& into, std::string_view label, const Implementations& implementations) {
  for (const dnnl::primitive_desc_base& implementation : implementations) {
    const std::string name = implementation.impl_info_str();
    const bool reference = name.starts_with("ref") || name.starts_with("simple");
    if (!reference || into.empty()) into.push_back({fmt::format("{} {}", label, name), implementation});
  }
}

}  // namespace trireme::engine
