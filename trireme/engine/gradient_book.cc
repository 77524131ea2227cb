// SPDX-License-Identifier: Apache-2.0
// Terms of gradients and their readers.
#include "trireme/engine/gradient_book.h"

#include "trireme/base/error.h"

namespace trireme::engine {

void GradientBook::add_term(TensorId tensor, BufferId buffer) {
  terms_[tensor].push_back(buffer);
  ++readers_[buffer];
}

const std::vector<BufferId>& GradientBook::terms(TensorId tensor) const {
  static const std::vector<BufferId> kNone;
  const auto found = terms_.find(tensor);
  return found == terms_.end() ? kNone : found->second;
}

void GradientBook::replace_terms(TensorId tensor, BufferId by) {
  close(tensor);
  add_term(tensor, by);
}

std::optional<BufferId> GradientBook::overwritable_term(TensorId tensor) const {
  for (const BufferId buffer : terms(tensor)) {
    if (readers_.at(buffer) == 1) return buffer;
  }
  return std::nullopt;
}

void GradientBook::close(TensorId tensor) {
  const auto found = terms_.find(tensor);
  if (found == terms_.end()) return;
  for (const BufferId buffer : found->second) --readers_[buffer];
  terms_.erase(found);
}

}  // namespace trireme::engine
