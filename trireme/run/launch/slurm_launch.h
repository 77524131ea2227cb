// SPDX-License-Identifier: Apache-2.0
// What is looked at, and made, on the machines of Slurm's allocation before nodes start there.
#pragma once

#include <filesystem>
#include <vector>

#include "trireme/cluster/launch/slurm.h"
#include "trireme/run/terminal/console.h"

namespace trireme::run {

class SlurmPreparation {
 public:
  // Throws if the program is not on all machines. If secrets can't be hidden on their way to them, that is reported on the console.
  SlurmPreparation(const std::vector<cluster::Machine>& machines, const cluster::LaunchOptions& options, const Console& console);
  ~SlurmPreparation();  // what nodes have not taken from the shared folder is removed
  SlurmPreparation(const SlurmPreparation&) = delete;
  SlurmPreparation& operator=(const SlurmPreparation&) = delete;

  const cluster::HandOver& hand_over() const { return hand_over_; }

 private:
  void remove_folder() const;

  std::filesystem::path folder_;
  cluster::HandOver hand_over_;
};

}  // namespace trireme::run
