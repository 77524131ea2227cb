// SPDX-License-Identifier: Apache-2.0
// In what runs differ: the settings that vary over them, and labels made of these.
#pragma once

#include <string>
#include <vector>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

struct Factor {
  std::string name;                 // "strategy", "train.batch_size"
  std::vector<std::string> values;  // of each run
};

// Model, data, strategy, nodes and batch first, then single settings. Seeds are repetitions and no factor; where files lie is none either.
std::vector<Factor> varying_factors(const std::vector<const RunDocument*>& runs);

// "ps:async, 256"; the run's own name if nothing varies.
std::string label_of(const std::vector<Factor>& factors, std::size_t run, const RunDocument& document);

// "allreduce", "allreduce → ps:async at 0.5"
std::string strategy_title(const RunDocument& document);

}  // namespace trireme::report
