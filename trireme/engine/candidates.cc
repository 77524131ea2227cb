// SPDX-License-Identifier: Apache-2.0
// Enumerates oneDNN's implementations of an operation.
#include "trireme/engine/candidates.h"

#include <fmt/format.h>

namespace trireme::engine {

void add_candidates(std::vector<Candidate>& into, std::string_view prefix, const Device& device, const_dnnl_op_desc_t operation,
                    const dnnl::primitive_attr& attributes, const dnnl::primitive_desc_base* forward) {
  dnnl_primitive_desc_iterator_t iterator = nullptr;
  if (dnnl_primitive_desc_iterator_create(&iterator, operation, attributes.get(), device.engine().get(),
                                          forward != nullptr ? forward->get() : nullptr) != dnnl_success)
    return;
  do {
    dnnl::primitive_desc_base primitive;
    primitive.reset(dnnl_primitive_desc_iterator_fetch(iterator));
    const std::string name = primitive.impl_info_str();
    const bool reference = name.starts_with("ref") || name.starts_with("simple");
    if (!reference || into.empty()) into.push_back({fmt::format("{} {}", prefix, name), primitive});
  } while (dnnl_primitive_desc_iterator_next(iterator) == dnnl_success);
  dnnl_primitive_desc_iterator_destroy(iterator);
}

}  // namespace trireme::engine
