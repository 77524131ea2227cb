// SPDX-License-Identifier: Apache-2.0
// Sums and moments of steps to their anatomy.
#include "trireme/report/read/step_parts.h"

#include <cmath>
#include <utility>

#include "trireme/observe/records/step_anatomy.h"

namespace trireme::report {
namespace {

AnatomyPart mean_part(std::string_view field, double seconds, double step_seconds) {
  return {.name = part_name(field), .seconds = seconds, .share = seconds / step_seconds};
}

void add_each(std::vector<double>& sums, const std::vector<double>& values) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
}

void join_each(std::vector<Moments>& all, const std::vector<Moments>& other) {
  for (std::size_t i = 0; i < all.size(); ++i) all[i].join(other[i]);
}

}  // namespace

const PartFields& node_part_fields() { return part_fields<observe::StepAnatomy>(); }

std::string part_name(std::string_view field) {
  constexpr std::string_view kSuffix = "_seconds";
  if (field.ends_with(kSuffix)) field.remove_suffix(kSuffix.size());
  return std::string(field);
}

void StepSums::add(const StepSums& other) {
  steps += other.steps;
  seconds += other.seconds;
  add_each(parts, other.parts);
  add_each(beside, other.beside);
}

Anatomy anatomy_of(const StepSums& sums) {
  Anatomy anatomy{.steps = sums.steps};
  if (!(sums.steps > 0)) return anatomy;
  const PartFields& fields = node_part_fields();
  anatomy.step_seconds = sums.seconds / sums.steps;
  for (std::size_t i = 0; i < sums.parts.size(); ++i)
    anatomy.parts.push_back(mean_part(fields.of_step[i], sums.parts[i] / sums.steps, anatomy.step_seconds));
  for (std::size_t i = 0; i < sums.beside.size(); ++i)
    anatomy.beside.push_back(mean_part(fields.beside[i], sums.beside[i] / sums.steps, anatomy.step_seconds));
  return anatomy;
}

StepMoments::StepMoments(const PartFields& fields) : fields_(&fields), parts_(fields.of_step.size()), beside_(fields.beside.size()) {}

void StepMoments::join(const StepMoments& other) {
  seconds_.join(other.seconds_);
  join_each(parts_, other.parts_);
  join_each(beside_, other.beside_);
}

AnatomyPart part_of(std::string name, const Moments& moments, double step_seconds) {
  return {.name = std::move(name), .seconds = moments.mean(), .share = moments.mean() / step_seconds, .spread = moments.deviation()};
}

Anatomy StepMoments::anatomy() const {
  Anatomy anatomy{.steps = seconds_.count(), .step_seconds = seconds_.mean()};
  if (anatomy.steps == 0) return anatomy;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    anatomy.parts.push_back(part_of(part_name(fields_->of_step[i]), parts_[i], anatomy.step_seconds));
  for (std::size_t i = 0; i < beside_.size(); ++i)
    anatomy.beside.push_back(part_of(part_name(fields_->beside[i]), beside_[i], anatomy.step_seconds));
  return anatomy;
}

void StepTable::take(std::string_view line) {
  if (!table_.take(line) || !std::isfinite(table_.cell("seconds"))) return;
  if (std::exchange(has_first_, true)) moments_.add([this](std::string_view field) { return table_.cell(field); });
}

}  // namespace trireme::report
