// SPDX-License-Identifier: Apache-2.0
// Enumerates oneDNN's implementations of an operation.
#include "trireme/engine/candidates.h"

#include <fmt/format.h>

namespace trireme::engine {

void add_candidates(std::vector<Candidate>& into, const Device& device, const Operation& operation) {
  dnnl_primitive_desc_iterator_t iterator = nullptr;
  const auto* hint = operation.forward != nullptr ? operation.forward->get() : nullptr;
  if (dnnl_primitive_desc_iterator_create(&iterator, operation.description, operation.attributes.get(), device.engine().get(), hint) !=
      dnnl_success)
    return;
  do {
    dnnl::primitive_desc_base primitive;
    primitive.reset(dnnl_primitive_desc_iterator_fetch(iterator));
    const std::string name = primitive.impl_info_str();
    const bool reference = name.starts_with("ref") || name.starts_with("simple");
    if (!reference || into.empty()) into.push_back({fmt::format("{} {}", operation.label, name), primitive});
  } while (dnnl_primitive_desc_iterator_next(iterator) == dnnl_success);
  dnnl_primitive_desc_iterator_destroy(iterator);
}

}  // namespace trireme::engine
