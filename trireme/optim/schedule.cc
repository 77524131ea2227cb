// SPDX-License-Identifier: Apache-2.0
// Constant, piecewise and cosine schedules with warm-up and linear scaling, as factors of the learning rate.
#include "trireme/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::optim {
namespace {

void check_pieces(const ScheduleOptions& o) {
  if (o.kind != "piecewise") return;
  if (o.boundaries.size() != o.factors.size())
    throw Error{invalid_argument, "schedule: {} boundaries but {} factors; give each boundary the factor that begins there",
                o.boundaries.size(), o.factors.size()};
  if (!std::is_sorted(o.boundaries.begin(), o.boundaries.end()))
    throw Error{invalid_argument, "schedule: boundaries {} must rise", fmt::join(o.boundaries, ", ")};
}

double piecewise(const ScheduleOptions& o, double epoch) {
  const auto passed = std::upper_bound(o.boundaries.begin(), o.boundaries.end(), epoch) - o.boundaries.begin();
  return passed == 0 ? 1 : o.factors[static_cast<std::size_t>(passed - 1)];
}

double cosine(double start, double end, double part) {
  return end + (start - end) * 0.5 * (1 + std::cos(std::numbers::pi * std::clamp(part, 0.0, 1.0)));
}

}  // namespace

void describe(ScheduleOptions& o, OptionVisitor& visit) {
  visit("kind", o.kind, "course of the learning rate", {"constant", "piecewise", "cosine"});
  visit("boundaries", o.boundaries, "piecewise: epochs, rising, where the factor changes");
  visit("factors", o.factors, "piecewise: factor on the learning rate from each boundary on");
  visit("final_factor", o.final_factor, "cosine: factor at the end of the last epoch", 0, 1);
  visit("warmup_epochs", o.warmup_epochs, "epochs over which the learning rate rises to its value", 0, 1e6);
  visit("warmup_start", o.warmup_start, "factor with which the warm-up begins", 0, 1);
  visit("reference_batch_size", o.reference_batch_size,
        "linear scaling: the batch size the learning rate was chosen for; 0 means no scaling", 0, 1 << 30);
}

Schedule::Schedule(ScheduleOptions options, const ScheduleSpan& span) : options_(std::move(options)), span_(span) {
  ensure(span_.samples_per_epoch > 0, "a schedule needs samples in an epoch");
  check_pieces(options_);
}

double Schedule::factor(double samples) const {
  const double epoch = samples / static_cast<double>(span_.samples_per_epoch);
  return shape(epoch) * warmup(epoch) * scaling();
}

double Schedule::shape(double epoch) const {
  if (options_.kind == "piecewise") return piecewise(options_, epoch);
  if (options_.kind == "cosine") return cosine(1, options_.final_factor, span_.epochs > 0 ? epoch / span_.epochs : 1);
  return 1;
}

double Schedule::warmup(double epoch) const {
  if (epoch >= options_.warmup_epochs) return 1;
  return options_.warmup_start + (1 - options_.warmup_start) * epoch / options_.warmup_epochs;
}

double Schedule::scaling() const {
  if (options_.reference_batch_size == 0) return 1;
  return static_cast<double>(span_.batch_size) / static_cast<double>(options_.reference_batch_size);
}

}  // namespace trireme::optim
