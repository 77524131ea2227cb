// SPDX-License-Identifier: Apache-2.0
// Entries by the launcher's name, and what ranks have in common.
#include "trireme/run/launch/startup_entry.h"

#include <algorithm>

namespace trireme::run {

StartupEntry startup_of(std::string_view launcher) {
  const auto& entries = launchers::catalog();
  const auto found = std::ranges::find(entries, launcher, &StartupEntry::launcher);
  return found == entries.end() ? StartupEntry{} : *found;
}

NodeOptions rank_options(const NodesRequest& nodes, const JobRequest& job) {
  return {.threads = std::max<std::int64_t>(job.threads, 0), .start_timeout = nodes.start_timeout, .job_hash = hash_of_file(job)};
}

}  // namespace trireme::run
