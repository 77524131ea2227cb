// SPDX-License-Identifier: Apache-2.0
// Enumerates oneDNN's implementations of an operation.
#include "trireme/engine/candidates.h"

#include <fmt/format.h>

#include <string>

namespace trireme::engine {
namespace {

// next_impl() of oneDNN 3 changes a description in place, so every candidate has its own.
dnnl::primitive_desc_base copy_of(const dnnl::primitive_desc_base& description) {
  dnnl_primitive_desc_t copy = nullptr;
  if (dnnl_primitive_desc_clone(&copy, description.get()) != dnnl_success) throw Error{internal, "oneDNN: a description can't be copied"};
  dnnl::primitive_desc_base owner;
  owner.reset(copy);
  return owner;
}

}  // namespace

void add_candidates(std::vector<Candidate>& into, std::string_view label, dnnl::primitive_desc description) {
  if (!description) return;
  do {
    const std::string name = description.impl_info_str();
    const bool reference = name.starts_with("ref") || name.starts_with("simple");
    if (!reference || into.empty()) into.push_back({fmt::format("{} {}", label, name), copy_of(description)});
  } while (description.next_impl());
}

}  // namespace trireme::engine
