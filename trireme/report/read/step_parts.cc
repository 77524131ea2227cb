// SPDX-License-Identifier: Apache-2.0
// Sums and moments of steps to their anatomy.
#include "trireme/report/read/step_parts.h"

#include <cmath>

namespace trireme::report {
namespace {

AnatomyPart part(std::string_view name, double seconds, double whole, double spread) {
  return {.name = std::string(name), .seconds = seconds, .share = seconds / whole, .spread = spread};
}

}  // namespace

void StepSums::add(const StepSums& other) {
  steps += other.steps;
  seconds += other.seconds;
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] += other.parts[i];
  for (std::size_t i = 0; i < beside.size(); ++i) beside[i] += other.beside[i];
}

Anatomy anatomy_of(const StepSums& sums) {
  Anatomy anatomy{.steps = sums.steps};
  if (!(sums.steps > 0)) return anatomy;
  anatomy.step_seconds = sums.seconds / sums.steps;
  for (std::size_t i = 0; i < kStepParts.size(); ++i)
    anatomy.parts.push_back(part(kStepParts[i], sums.parts[i] / sums.steps, anatomy.step_seconds, kUnknown));
  for (std::size_t i = 0; i < kBesideParts.size(); ++i)
    anatomy.beside.push_back(part(kBesideParts[i], sums.beside[i] / sums.steps, anatomy.step_seconds, kUnknown));
  return anatomy;
}

void StepMoments::join(const StepMoments& other) {
  seconds.join(other.seconds);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].join(other.parts[i]);
  for (std::size_t i = 0; i < beside.size(); ++i) beside[i].join(other.beside[i]);
  staleness.join(other.staleness);
  bytes_sent += other.bytes_sent;
}

Anatomy anatomy_of(const StepMoments& moments) {
  Anatomy anatomy{.steps = moments.seconds.count(), .step_seconds = moments.seconds.mean()};
  if (anatomy.steps == 0) return anatomy;
  for (std::size_t i = 0; i < kStepParts.size(); ++i)
    anatomy.parts.push_back(part(kStepParts[i], moments.parts[i].mean(), anatomy.step_seconds, moments.parts[i].deviation()));
  for (std::size_t i = 0; i < kBesideParts.size(); ++i)
    anatomy.beside.push_back(part(kBesideParts[i], moments.beside[i].mean(), anatomy.step_seconds, moments.beside[i].deviation()));
  return anatomy;
}

void StepTable::take(std::string_view line) {
  const auto cell = [this](std::string_view name) { return table_.cell(name); };
  if (!table_.take(line) || !std::isfinite(cell("seconds"))) return;
  if (!has_first_) {
    has_first_ = true;
    first_step_seconds_ = cell("seconds");
    return;
  }
  moments_.seconds.add(cell("seconds"));
  for (std::size_t i = 0; i < kStepParts.size(); ++i) moments_.parts[i].add(cell(kStepParts[i]));
  for (std::size_t i = 0; i < kBesideParts.size(); ++i) moments_.beside[i].add(cell(kBesideParts[i]));
  moments_.staleness.add(cell("staleness"));
  if (const double bytes = cell("bytes_sent"); std::isfinite(bytes)) moments_.bytes_sent += bytes;
}

}  // namespace trireme::report
