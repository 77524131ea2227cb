// SPDX-License-Identifier: Apache-2.0
// An evaluation as JSON: RUN/evaluation.json, `eval --json` and the page have the same form.
#pragma once

#include "trireme/base/json.h"
#include "trireme/report/scores/evaluation.h"

namespace trireme::report {

Json json_of(const Evaluation& evaluation);
// data_loss if it is not one of json_of.
Evaluation evaluation_of(const Json& json);

}  // namespace trireme::report
