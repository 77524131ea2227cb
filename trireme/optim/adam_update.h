// SPDX-License-Identifier: Apache-2.0
// The update that adam and adamw share; they differ in the weight decay only.
#pragma once

#include "trireme/base/options.h"
#include "trireme/optim/optimizer_entry.h"

namespace trireme::optim {

struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};
void describe(AdamOptions& o, OptionVisitor& visit);

// w is first multiplied by 1 - learning_rate * weight_decay.
void adam_update(const AdamOptions& o, double weight_decay, const UpdateSpan& span);
std::vector<std::string_view> adam_slots(const std::any& options);

}  // namespace trireme::optim
