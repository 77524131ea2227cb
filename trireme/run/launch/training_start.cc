// SPDX-License-Identifier: Apache-2.0
// One process or many, as the launcher's entry and the request say.
#include "trireme/run/launch/training_start.h"

#include <fmt/format.h>

#include <utility>

#include "trireme/run/launch/cluster_run.h"
#include "trireme/run/launch/launcher_choice.h"
#include "trireme/run/training/run_past.h"
#include "trireme/train/checkpoint/run_directory.h"

namespace trireme::run {
namespace {

std::optional<Takeover> takeover_of(const TrainingRequest& training) {
  if (training.resume.empty()) return std::nullopt;
  return read_takeover(takeover_file(train::RunDirectory::open(training.resume).path()));
}

// A run of several nodes may be continued by one; the result is nearly the same, but it takes longer than its owner may expect.
void mention_workers(const std::filesystem::path& run, const Console& console) {
  const std::int64_t workers = last_workers(train::RunDirectory::open(run).journal());
  if (workers > 1)
    console.err << fmt::format("note: this run had {} workers; give -n {} (or its machines) to go on with as many\n", workers, workers);
}

}  // namespace

TrainingStart::TrainingStart(NodesRequest nodes, const Console& console) : nodes_(std::move(nodes)), console_(console) {
  nodes_.launcher = choose_launcher(nodes_, console_).name;
  startup_ = startup_of(nodes_.launcher);
}

std::int64_t TrainingStart::rank() const { return startup_.rank == nullptr ? 0 : startup_.rank(nodes_); }

int TrainingStart::run_node(const JobRequest& job) const { return startup_.run_node(nodes_, job, console_); }

int TrainingStart::run(const TrainingRequest& training, const std::atomic<int>& stop) const {
  const auto takeover = takeover_of(training);
  if (is_alone(takeover)) {
    if (!training.resume.empty()) mention_workers(training.resume, console_);
    return run_training(training, console_, stop);
  }
  ClusterRequest cluster = cluster_request(training, takeover);
  const std::shared_ptr<void> preparation = startup_.prepare == nullptr ? nullptr : startup_.prepare(cluster, console_);
  return run_cluster_training(training, std::move(cluster), console_, stop);
}

void TrainingStart::show(const TrainingRequest& training) const {
  const auto takeover = takeover_of(training);
  if (is_alone(takeover))
    console_.out << "one process on this machine: nothing is started elsewhere\n";
  else
    console_.out << dry_run(cluster_request(training, takeover));
}

bool TrainingStart::is_alone(const std::optional<Takeover>& takeover) const {
  return startup_.trains_alone && nodes_.count <= 1 && !takeover;
}

ClusterRequest TrainingStart::cluster_request(const TrainingRequest& training, const std::optional<Takeover>& takeover) const {
  ClusterRequest cluster = startup_.request(nodes_, training, takeover);
  if (takeover) console_.out << "the coordinator of this run died: taking over from it, with the nodes that still wait\n";
  cluster.takeover = takeover;
  return cluster;
}

}  // namespace trireme::run
