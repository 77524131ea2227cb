// SPDX-License-Identifier: Apache-2.0
// Finds the names behind subsets.
#include "trireme/data/source/named_source.h"

#include "trireme/base/error.h"
#include "trireme/data/source/subset.h"

namespace trireme::data {

NamedSource::NamedSource(std::unique_ptr<const Source> base, std::vector<std::string> names)
    : base_(std::move(base)), names_(std::move(names)) {
  ensure(static_cast<std::int64_t>(names_.size()) == base_->format().shape.count(), "each value has a name");
}

std::vector<std::string> value_names(const Source& source) {
  if (const auto* named = dynamic_cast<const NamedSource*>(&source)) return named->value_names();
  if (const auto* subset = dynamic_cast<const Subset*>(&source)) return value_names(subset->base());
  return {};
}

}  // namespace trireme::data
