// SPDX-License-Identifier: Apache-2.0
// Data are staged first: their names here become part of the job.
#include "trireme/train/node/job_preparation.h"

#include <fmt/format.h>

#include <utility>

#include "trireme/base/config.h"
#include "trireme/train/messages/reports.h"
#include "trireme/train/staging/staging.h"

namespace trireme::train {
namespace {

// A line every other second, and one at the end.
class StagingLines {
 public:
  StagingLines(const WorkerOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

  void report(const StagingProgress& progress) {
    const Seconds now = clock_.now();
    if (progress.bytes < progress.total && (now - last_).count() < 2) return;
    last_ = now;
    constexpr double kMegabyte = 1 << 20;
    options_.say(fmt::format("data: {:.1f} of {:.1f} MiB", static_cast<double>(progress.bytes) / kMegabyte,
                             static_cast<double>(progress.total) / kMegabyte));
  }

 private:
  const WorkerOptions& options_;
  const Clock& clock_;
  Seconds last_{0};
};

}  // namespace

PreparedJob prepare_job(coord::Membership& membership, ProgressReporter& progress, const WorkerOptions& options, const Clock& clock) {
  Config config = Config::parse_toml(unpack_welcome(membership.welcome()).job, "the coordinator's job");
  config.set("train.threads", fmt::format("{}", options.threads), "this node");
  progress.at(-1, "staging");
  StagingLines lines(options, clock);
  StagedData staged = stage_data(
      config,
      {.call = [&](const std::string& method, std::string request) { return membership.call(method, std::move(request), kCallTimeout); },
       .cache = options.scratch / "staged",
       .progress = [&](const StagingProgress& staging) { lines.report(staging); }});
  progress.at(-1, "preparation");
  return {.job = job_from_config(config),
          .job_hash = options.job_hash.empty() ? job_hash(config) : options.job_hash,
          .data_hash = std::move(staged.hash)};
}

}  // namespace trireme::train
