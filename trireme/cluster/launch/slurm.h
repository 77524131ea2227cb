// SPDX-License-Identifier: Apache-2.0
// An allocation of Slurm: its machines, the steps that run nodes on them, and the batch script that asks for one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/cluster/launch/hand_over.h"
#include "trireme/cluster/launch/launcher_entry.h"

namespace trireme::cluster {

// Slurm's variables inside an allocation, as they are; empty if they are not set.
struct SlurmVariables {
  std::string job_id;          // SLURM_JOB_ID
  std::string node_list;       // SLURM_JOB_NODELIST, "n[1-3],gpu7"
  std::string tasks_per_node;  // SLURM_TASKS_PER_NODE, "2(x3),1"
  std::string cpus_per_node;   // SLURM_JOB_CPUS_PER_NODE, in the same form
  std::string cpus_per_task;   // SLURM_CPUS_PER_TASK
};

// None outside of an allocation.
std::optional<SlurmVariables> slurm_variables(const Environment& environment);

// "2(x3),1" is 2, 2, 2, 1. Throws invalid_argument that names `variable`.
std::vector<std::int64_t> expand_counts(std::string_view text, std::string_view variable);

// A machine for each of `names`, with as many slots as the allocation has tasks there. `records` is what `scontrol --oneliner show
// node` prints; a machine whose address it does not have is reached by its name.
std::vector<Machine> slurm_machines(const SlurmVariables& variables, const std::vector<std::string>& names, std::string_view records);

// The same, asked of scontrol.
Inventory slurm_inventory(const SlurmVariables& variables);

// What all machines of the allocation have to receive secrets with.
struct MachineMeans {
  bool unmunge = false;  // the program
  bool folder = false;   // the one that was asked for: they share it
};

// Throws failed_precondition that names the machines of the allocation on which this program is not, or is another one. `probe` is a file
// that only machines with the same disk have.
MachineMeans require_same_program(const std::vector<Machine>& machines, const LaunchOptions& options, const std::filesystem::path& probe);

// Where munge's daemon listens, as Slurm's configuration says; empty: it says nothing.
std::string slurm_munge_socket(std::string_view configuration);
// The same, asked of scontrol.
std::string slurm_munge_socket();

// Munge if all machines and this one have it, else files in `folder` if they share that, else as it is.
HandOver slurm_hand_over(const MachineMeans& means, const std::string& socket, const std::filesystem::path& folder);

// srun exits with the node's code, or 128 and the signal that ended the node.
ExitStatus node_exit_of_srun(const ExitStatus& status);

struct SbatchOptions {
  std::filesystem::path binary;  // absolute, like all paths here: a job may start anywhere
  std::filesystem::path job;
  std::int64_t nodes = 1;             // machines, with a node on each
  std::int64_t cpus_per_task = 0;     // 0: as the partition has it
  std::string time;                   // empty: as the partition has it
  std::string partition;              // empty: the default one
  std::vector<std::string> settings;  // --set
};

// A script for sbatch that trains, writes a checkpoint before its time is over, and goes on after a requeue. Throws invalid_argument if
// a value has characters that sbatch could read as something else.
std::string sbatch_script(const SbatchOptions& options);

}  // namespace trireme::cluster
