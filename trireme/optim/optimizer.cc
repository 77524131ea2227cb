// SPDX-License-Identifier: Apache-2.0
// Cuts updates into ranges for the threads, and slices into whole ones where norms are needed.
#include "trireme/optim/optimizer.h"

#include <algorithm>
#include <utility>

#include "trireme/base/catalog_lookup.h"
#include "trireme/base/error.h"
#include "trireme/base/parallel.h"
#include "trireme/optim/norm.h"

namespace trireme::optim {
namespace {

constexpr std::int64_t kGrain = 1 << 14;  // values worth a thread of their own

UpdateSpan part_of(const UpdateSpan& span, std::int64_t begin, std::int64_t end) {
  const auto from = static_cast<std::size_t>(begin);
  const auto count = static_cast<std::size_t>(end - begin);
  UpdateSpan part = span;
  part.parameters = span.parameters.subspan(from, count);
  part.gradients = span.gradients.subspan(from, count);
  for (auto& slot : part.slots) {
    if (!slot.empty()) slot = slot.subspan(from, count);
  }
  return part;
}

}  // namespace

const OptimizerEntry& find_optimizer(std::string_view name) { return find_entry(optimizers::catalog(), name, "optimizer"); }

Optimizer::Optimizer(const OptimizerEntry& entry, std::any options, const ParameterSpace& space)
    : entry_(entry), options_(std::move(options)), space_(space) {
  ensure(slots().size() <= kMaxSlots, "an optimizer has more slots than UpdateSpan can hold");
}

Optimizer Optimizer::from_config(const Config& table, const ParameterSpace& space) {
  const Config* name = table.find("name");
  const OptimizerEntry& entry = find_optimizer(name == nullptr ? "sgd" : name->text());
  std::any options = entry.options.defaults();
  OptionReader reader(table, fmt::format("optimizer '{}'", entry.name), {"name"});
  entry.options.visit(options, reader);
  reader.finish();
  return {entry, std::move(options), space};
}

void Optimizer::update(std::int64_t offset, const UpdateSpan& span) const {
  const std::size_t count = span.parameters.size();
  ensure(offset >= 0 && offset + static_cast<std::int64_t>(count) <= space_.size(), "update outside of the parameter space");
  ensure(span.gradients.size() == count, "gradients and parameters differ in length");
  for (std::size_t slot = 0; slot < slots().size(); ++slot)
    ensure(span.slots[slot].size() == count, "a slot and the parameters differ in length");
  if (entry_.slice_rate == nullptr) return update_run(span);
  update_slices(offset, span);
}

void Optimizer::update_run(const UpdateSpan& span) const {
  parallel_ranges(static_cast<std::int64_t>(span.parameters.size()), kGrain,
                  [&](std::int64_t begin, std::int64_t end) { entry_.update(options_, part_of(span, begin, end)); });
}

void Optimizer::update_slices(std::int64_t offset, const UpdateSpan& span) const {
  const std::int64_t end = offset + static_cast<std::int64_t>(span.parameters.size());
  std::int64_t done = offset;
  for (const Slice& slice : space_.slices()) {
    if (slice.offset + slice.count <= offset || slice.offset >= end) continue;
    if (slice.offset != done || slice.offset + slice.count > end) break;
    UpdateSpan part = part_of(span, slice.offset - offset, slice.offset + slice.count - offset);
    part.slice = &slice;
    part.learning_rate *=
        entry_.slice_rate(options_, slice, {.parameters = norm_of(part.parameters), .gradients = norm_of(part.gradients)});
    update_run(part);
    done = slice.offset + slice.count;
  }
  if (done != end)
    throw Error{invalid_argument, "optimizer '{}' works on whole slices, but values {} to {} cut one; give each server whole slices",
                entry_.name, done, end};
}

}  // namespace trireme::optim
