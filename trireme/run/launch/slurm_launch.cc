// SPDX-License-Identifier: Apache-2.0
// One srun on all machines, and a folder in the user's cache, which Slurm's machines usually share.
#include "trireme/run/launch/slurm_launch.h"

#include "trireme/base/rollback.h"
#include "trireme/run/setup/cache_directory.h"

namespace trireme::run {
namespace {

std::filesystem::path make_folder() {
  const std::filesystem::path cache = cache_directory();
  return cache.empty() ? cache : cluster::make_shared_folder(cache);
}

}  // namespace

SlurmPreparation::SlurmPreparation(const std::vector<cluster::Machine>& machines, const cluster::LaunchOptions& options,
                                   const Console& console)
    : folder_(make_folder()) {
  Rollback folder([&] { remove_folder(); });
  const std::filesystem::path probe = folder_.empty() ? folder_ : cluster::probe_in(folder_);
  const cluster::MachineMeans means = cluster::require_same_program(machines, options, probe);
  hand_over_ = cluster::slurm_hand_over(means, cluster::slurm_munge_socket(), folder_);
  if (hand_over_.way == cluster::HandOver::Way::as_is)
    console.err
        << "trireme: warning: the machines have neither munge's programs nor a cache folder that they share: private keys go to the "
           "nodes over srun, which encrypts nothing; install munge on all of them, or set XDG_CACHE_HOME to a shared folder\n"
        << std::flush;
  folder.keep();
}

SlurmPreparation::~SlurmPreparation() { remove_folder(); }

void SlurmPreparation::remove_folder() const {
  std::error_code gone;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, gone);
}

}  // namespace trireme::run
