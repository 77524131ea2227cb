// SPDX-License-Identifier: Apache-2.0
// A trained model's pass over a part of its data, as eval and errors do it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "trireme/cli/trained_model.h"
#include "trireme/data/source/source.h"
#include "trireme/run/learned/assessment.h"

namespace trireme::cli {

// Opened and found to fit the model.
std::shared_ptr<const data::Source> samples_of_part(const TrainedModel& model, const std::string& part);

struct AssessmentRequest {
  std::string part;
  std::size_t mistakes = 0;  // to keep
};

// Calls use(assessment, assessed) while all that it is about lives. Progress goes to console.err.
run::Assessment assess_model(TrainedModel& model, const std::shared_ptr<const data::Source>& samples, const AssessmentRequest& request,
                             const run::Console& console,
                             const std::function<void(const run::Assessment&, const run::Assessed&)>& use = {});

}  // namespace trireme::cli
