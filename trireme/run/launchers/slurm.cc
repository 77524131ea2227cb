// SPDX-License-Identifier: Apache-2.0
// slurm: steps of an allocation, whose machines are looked at first, since srun encrypts nothing of what it hands over.
#include "trireme/run/launch/slurm_launch.h"
#include "trireme/run/launch/startup_entry.h"

namespace trireme::run::launchers {
namespace {

std::shared_ptr<void> prepare(ClusterRequest& cluster, const Console& console) {
  auto preparation = std::make_shared<SlurmPreparation>(cluster::machines_of(cluster.plans), cluster.options, console);
  cluster.options.hand_over = preparation->hand_over();
  return preparation;
}

}  // namespace

StartupEntry slurm() { return {.launcher = "slurm", .prepare = prepare}; }

}  // namespace trireme::run::launchers
