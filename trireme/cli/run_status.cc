// SPDX-License-Identifier: Apache-2.0
// A run's journal, read for its last word on everything.
#include "trireme/cli/run_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/base/file_lock.h"
#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/observe/journal_reader.h"
#include "trireme/train/job/job.h"
#include "trireme/train/job/plan.h"

namespace trireme::cli {
namespace {

constexpr std::size_t kRecent = 50;  // steps over which the speed is measured

class Reading {
 public:
  void take(const observe::Record& record) {
    if (record.type == "run") take_run(record);
    if (record.type == "generation") take_generation(record);
    if (record.type == "step") take_step(record);
    if (record.type == "epoch") take_epoch(record);
    if (record.type == "switch")
      status_.switches.push_back({.step = record.integer("step"),
                                  .from = record.text("from"),
                                  .to = record.text("to"),
                                  .why = record.text("why"),
                                  .seconds = record.real("seconds")});
    if (record.type == "lost")
      status_.lost.push_back(fmt::format("node {} on {} after step {}: {}", record.text("node"), record.text("host"),
                                         record.integer("step"), record.text("cause")));
    if (record.type == "end") status_.ending = record.text("reason");
    if (record.type == "resume") take_resume(record);
  }
  RunStatus finish() {
    if (recent_.size() > 1) {
      const double seconds = recent_.back().time - recent_.front().time;
      status_.samples_per_second = static_cast<double>(recent_.back().seen - recent_.front().seen) / std::max(seconds, 1e-9);
    }
    if (!status_.plan.empty()) {
      const train::Plan plan = train::parse_plan(status_.plan);
      const train::StrategyPart& now = plan.at(status_.samples_seen).strategy;
      status_.strategy = train::text_of(now);
      status_.duties = train::duties_text({.name = now.name, .options = now.options}, static_cast<int>(status_.hosts.size()));
    }
    return std::move(status_);
  }

 private:
  void take_run(const observe::Record& record) {
    status_.job = record.text("job");
    status_.model = record.text("model");
    status_.data = record.text("data");
    status_.epochs = record.integer("epochs");
    status_.samples_total = record.integer("samples") * status_.epochs;
  }
  void take_resume(const observe::Record& record) {
    status_.ending.clear();
    if (record.find("epochs") == nullptr || status_.epochs == 0) return;  // of an older version
    status_.samples_total = status_.samples_total / status_.epochs * record.integer("epochs");
    status_.epochs = record.integer("epochs");
  }
  void take_generation(const observe::Record& record) {
    status_.generation = record.integer("generation");
    if (record.find("plan") != nullptr) status_.plan = record.text("plan");
    std::istringstream hosts(record.text("hosts"));
    status_.hosts.clear();
    for (std::string host; hosts >> host;) status_.hosts.push_back(host);
    recent_.clear();
  }
  void take_step(const observe::Record& record) {
    status_.step = record.integer("step");
    status_.epoch = record.integer("epoch");
    status_.samples_seen = record.integer("samples_seen");
    status_.loss = record.real("loss");
    recent_.push_back({record.time, status_.samples_seen});
    if (recent_.size() > kRecent) recent_.pop_front();
  }
  void take_epoch(const observe::Record& record) {
    for (const char* field : {"validation_accuracy", "test_accuracy"})
      if (record.find(field) != nullptr) status_.accuracy = record.real(field);
  }

  struct Moment {
    double time;
    std::int64_t seen;
  };
  RunStatus status_;
  std::deque<Moment> recent_;
};

std::string state_text(const RunStatus& status) {
  if (status.is_running) return "running";
  return status.ending.empty() ? "died without a word; `trireme train --resume` goes on with it" : status.ending;
}

std::string hosts_text(const RunStatus& status) {
  std::map<std::string, int> counts;
  for (const std::string& host : status.hosts) ++counts[host];
  std::string text = fmt::format("{} node{}", status.hosts.size(), status.hosts.size() == 1 ? "" : "s");
  for (const auto& [host, count] : counts) text += fmt::format("{} {} on {}", &host == &counts.begin()->first ? ":" : ",", count, host);
  return text;
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string progress_text(const RunStatus& status) {
  const double share = 100.0 * static_cast<double>(status.samples_seen) / std::max<double>(1, static_cast<double>(status.samples_total));
  std::string text = fmt::format("step {}, epoch {} of {}, {} of {} samples ({:.0f} %)", status.step, status.epoch, status.epochs,
                                 with_thousands(status.samples_seen), with_thousands(status.samples_total), share);
  if (!status.is_running || status.samples_per_second <= 0) return text;
  const auto left = static_cast<double>(status.samples_total - status.samples_seen);
  return text +
         fmt::format(", {:.0f} samples/s, about {} left", status.samples_per_second, duration_text(left / status.samples_per_second));
}

}  // namespace

RunStatus status_of(const train::RunDirectory& run) {
  Reading reading;
  observe::for_each_record(run.journal(), [&](const observe::Record& record) { reading.take(record); });
  RunStatus status = reading.finish();
  status.is_running = is_locked(run.lock_file());
  if (status.is_running) status.ending.clear();
  return status;
}

std::string text_of(const RunStatus& status) {
  std::string text = fmt::format("{}: {} on {}, {}\n", status.job, status.model, status.data, state_text(status));
  if (!status.plan.empty()) {
    text += fmt::format("strategy    {}: {}\n", status.strategy, status.duties);
    if (status.plan != status.strategy) text += fmt::format("plan        {}\n", status.plan);
    text += fmt::format("generation  {}, {}\n", status.generation, hosts_text(status));
  }
  text += fmt::format("progress    {}\nloss        {:.4f}\n", progress_text(status), status.loss);
  if (status.accuracy >= 0) text += fmt::format("accuracy    {:.2f} %\n", 100 * status.accuracy);
  for (const SwitchStatus& done : status.switches)
    text += fmt::format("switched    after step {} from {} to {} ({}), {:.2f} s\n", done.step, done.from, done.to, done.why, done.seconds);
  for (const std::string& lost : status.lost) text += fmt::format("lost        {}\n", lost);
  return text;
}

std::string json_of(const RunStatus& status) {
  Json switches = Json::array();
  for (const SwitchStatus& done : status.switches)
    switches.push_back({{"step", done.step}, {"from", done.from}, {"to", done.to}, {"why", done.why}, {"seconds", done.seconds}});
  Json json = {{"job", status.job},
               {"model", status.model},
               {"data", status.data},
               {"running", status.is_running},
               {"ending", status.ending},
               {"strategy", status.strategy},
               {"duties", status.duties},
               {"plan", status.plan},
               {"generation", status.generation},
               {"hosts", status.hosts},
               {"step", status.step},
               {"epoch", status.epoch},
               {"epochs", status.epochs},
               {"samples_seen", status.samples_seen},
               {"samples_total", status.samples_total},
               {"samples_per_second", status.samples_per_second},
               {"loss", status.loss},
               {"accuracy", status.accuracy >= 0 ? Json(status.accuracy) : nullptr},
               {"switches", switches},
               {"lost", status.lost}};
  return json.dump(2) + "\n";
}

}  // namespace trireme::cli
