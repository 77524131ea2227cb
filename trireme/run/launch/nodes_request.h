// SPDX-License-Identifier: Apache-2.0
// Which nodes a training is to have: what flags, or another program, say of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trireme/cluster/inventory/machine.h"

namespace trireme::run {

constexpr double kCertificateSeconds = 30 * 24 * 3600.0;  // a certificate's validity; it is renewed at half of it

struct NodesRequest {
  std::string launcher;    // empty: as machines, count and environment say (launcher_choice.h)
  std::int64_t count = 0;  // 0: one, or as many as the machines have slots
  // The machines that are named, as their description says now. Null: none are.
  std::function<cluster::Inventory()> machines;
  std::filesystem::path machines_file;  // that they stand in, to be watched for more of them; empty: they are named otherwise
  std::vector<std::string> ssh_args;    // as cluster::LaunchOptions has it, and so the next one
  bool accept_new_hosts = false;
  double start_timeout = 120;  // seconds until every node must be ready
  int min_nodes = 0;           // the training goes on, and begins, with as few; 0: it goes on with one, and begins with all
  int max_nodes = 0;           // at a time; 0: all
  int restarts = 3;            // of a node, in a row, without progress
  double keep_nodes = 60;      // seconds that nodes wait for another coordinator if this one dies
  double certificate_seconds = kCertificateSeconds;
  std::filesystem::path events;   // folder for event journals; empty: none
  std::string secret_file;        // of processes that something else starts: all of them can read it; empty: the user's cache has one
  std::filesystem::path program;  // what nodes run: a `trireme`; empty: the program of this process
  bool only_shows = false;        // nothing is trained: the first process prints something
};

// `program` of the request, or this process's own.
std::filesystem::path node_program(const NodesRequest& request);

}  // namespace trireme::run
