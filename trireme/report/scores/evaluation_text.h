// SPDX-License-Identifier: Apache-2.0
// An evaluation for the terminal.
#pragma once

#include <string>

#include "trireme/report/scores/evaluation.h"

namespace trireme::report {

// "accuracy 91.20 %  top-5 99.80 %", "MAE 0.12  RMSE 0.2  R² 0.93"; nothing if it has neither.
std::string headline(const Evaluation& evaluation);
// Tables below it; with many classes only the weakest and what was confused most.
std::string to_text(const Evaluation& evaluation);

}  // namespace trireme::report
