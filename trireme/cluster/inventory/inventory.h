// SPDX-License-Identifier: Apache-2.0
// Cluster descriptions: cluster.toml, hostfiles, lists of hosts, and JSON blueprints.
#pragma once

#include <filesystem>
#include <string_view>

#include "trireme/cluster/inventory/machine.h"

namespace trireme::cluster {

// What a file is shows in its name (.toml, .json), else in its text: one that opens with '{' is a blueprint, others are hostfiles.
Inventory read_inventory(const std::filesystem::path& path);
Inventory read_hostfile(const std::filesystem::path& path);

// [[machines]] with the fields of Machine, [defaults] for fields most have in common, [ssh].
Inventory parse_cluster_toml(std::string_view text, std::string_view name);
// A host a line: "h1 slots=4" or "h1:4"; '#' begins a comment.
Inventory parse_hostfile(std::string_view text, std::string_view name);
// "a:2,b:4"; an IPv6 address with slots has brackets: "[fd00::1]:2".
Inventory parse_host_list(std::string_view text);
// {"connections": [{"IP": "10.0.0.1", "GPUS": 0, "energy efficient": no}, ...]}, also with its usual slips.
Inventory parse_blueprint(std::string_view text, std::string_view name);

}  // namespace trireme::cluster
