// SPDX-License-Identifier: Apache-2.0
// Outcomes, final and best measures, and their JSON.
#include "trireme/report/folder/run_entry.h"

#include <cmath>

namespace trireme::report {
namespace {

constexpr std::size_t kMaxPoints = 100;  // of a curve on the page

Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return value == std::floor(value) && std::abs(value) < 1e15 ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json curve_of(const std::vector<EpochScore>& scores) {
  const std::size_t stride = (scores.size() + kMaxPoints - 1) / kMaxPoints;
  Json curve = {{"epoch", Json::array()},
                {"training_loss", Json::array()},
                {"training_accuracy", Json::array()},
                {"loss", Json::array()},
                {"accuracy", Json::array()}};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (i % stride != 0 && i + 1 != scores.size()) continue;
    curve["epoch"].push_back(number(scores[i].epoch));
    curve["training_loss"].push_back(number(scores[i].training_loss));
    curve["training_accuracy"].push_back(number(scores[i].training_accuracy));
    curve["loss"].push_back(number(scores[i].loss));
    curve["accuracy"].push_back(number(scores[i].accuracy));
  }
  return curve;
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::running:
      return "running";
    case Outcome::finished:
      return "finished";
    case Outcome::stopped:
      return "stopped";
    case Outcome::failed:
      return "failed";
    case Outcome::killed:
      break;
  }
  return "killed";
}

Outcome outcome_of(const RunSummary& summary, bool is_running) {
  if (is_running) return Outcome::running;
  if (summary.reason.empty()) return Outcome::killed;
  if (summary.reason == "completed" || summary.reason == "stopped early") return Outcome::finished;
  if (summary.reason == "interrupted" || summary.reason == "until") return Outcome::stopped;
  return Outcome::failed;
}

double RunEntry::loss() const {
  if (std::isfinite(summary.test_loss)) return summary.test_loss;
  return summary.scores.empty() ? kUnknown : summary.scores.back().loss;
}

double RunEntry::accuracy() const {
  if (std::isfinite(summary.test_loss)) return summary.test_accuracy;
  return summary.scores.empty() ? kUnknown : summary.scores.back().accuracy;
}

std::string RunEntry::measured_on() const { return std::isfinite(summary.test_loss) ? "test" : summary.measured_on; }

const EpochScore& RunEntry::best() const {
  return std::isfinite(summary.best_accuracy.accuracy) ? summary.best_accuracy : summary.best_loss;
}

Json json_of(const RunEntry& entry, Curves curves) {
  const RunSummary& s = entry.summary;
  Json json = {{"name", entry.name},
               {"directory", entry.directory},
               {"outcome", std::string(name_of(entry.outcome))},
               {"reason", s.reason},
               {"started", number(s.started)},
               {"ended", number(s.ended)},
               {"job", s.job},
               {"model", s.model},
               {"data", s.data},
               {"strategy", s.strategy},
               {"workers", number(s.workers)},
               {"host", s.host},
               {"parameters", number(s.parameters)},
               {"batch_size", number(s.batch_size)},
               {"epochs_done", number(s.epochs_done)},
               {"epochs", number(s.epochs)},
               {"step", number(s.step)},
               {"seconds", number(s.seconds)},
               {"samples_per_second", number(s.samples_per_second)},
               {"training_loss", number(s.last_loss)},
               {"loss", number(entry.loss())},
               {"accuracy", number(entry.accuracy())},
               {"measured_on", entry.measured_on()},
               {"best_loss", number(entry.best().loss)},
               {"best_accuracy", number(entry.best().accuracy)},
               {"best_epoch", number(entry.best().epoch)},
               {"note", entry.note}};
  if (curves == Curves::with) json["curve"] = curve_of(s.scores);
  return json;
}

}  // namespace trireme::report
