// SPDX-License-Identifier: Apache-2.0
// The tables of a comparison. Each adds itself only if the runs have its numbers; differences are computed from unrounded values.
#pragma once

#include <vector>

#include "trireme/report/compare/comparison_document.h"

namespace trireme::report {

using Tables = std::vector<Table>;

// results_tables.cc
void add_setup(const std::vector<Group>& groups, Tables& tables);
void add_results(const std::vector<Group>& groups, Tables& tables);
void add_contrast(const std::vector<Group>& groups, Tables& tables);  // "PS against MW", for every batch and model
void add_switches(const std::vector<Group>& groups, Tables& tables);  // against the two strategies they are made of
void add_scaling(const std::vector<Group>& groups, Tables& tables);
void add_epochs(const std::vector<Group>& groups, Tables& tables);
void add_limits(const std::vector<Group>& groups, Tables& tables);

// resource_tables.cc
void add_mean_resources(const std::vector<Group>& groups, Tables& tables);
void add_resource_extents(const std::vector<Group>& groups, Tables& tables);
void add_machines(const std::vector<Group>& groups, Tables& tables);
void add_traffic(const std::vector<Group>& groups, Tables& tables);

// step_tables.cc
void add_steps(const std::vector<Group>& groups, Tables& tables);
void add_input(const std::vector<Group>& groups, Tables& tables);
void add_ops(const std::vector<Group>& groups, Tables& tables);
void add_servers(const std::vector<Group>& groups, Tables& tables);

// figures.cc
void add_figures(const std::vector<Group>& groups, std::vector<Figure>& figures);

}  // namespace trireme::report
