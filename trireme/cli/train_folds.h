// SPDX-License-Identifier: Apache-2.0
// `trireme train --folds`: a training for each fold, with the same flags, and a table of them.
#pragma once

#include <cstdint>
#include <string>

#include "trireme/cli/command_entry.h"
#include "trireme/cli/selection_flags.h"
#include "trireme/run/launch/nodes_request.h"
#include "trireme/run/setup/job_request.h"

namespace trireme::cli {

struct FoldFlags {
  std::int64_t folds = 0;  // not given
  std::string folder;
  bool json = false;
};
void add_fold_flags(Arguments& arguments, FoldFlags& flags);

// What `trireme train` was asked for beside the folds.
struct FoldedTraining {
  const run::JobRequest& job;
  const run::NodesRequest& nodes;
  const SelectionFlags& machines;
  std::string runs;         // folder of all run directories
  bool is_special = false;  // a part of a training is wanted, or none: --until, --dashboard, --dry-run, --print-config
};
int train_folds(const FoldFlags& flags, const FoldedTraining& training, const run::Console& console);

}  // namespace trireme::cli
