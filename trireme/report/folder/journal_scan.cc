// SPDX-License-Identifier: Apache-2.0
// Lines are chosen by how they begin; what was found can be kept as JSON.
#include "trireme/report/folder/journal_scan.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/report/read/fields.h"
#include "trireme/report/read/line_tail.h"

namespace trireme::report {
namespace {

constexpr std::size_t kMaxScores = 1000;  // then every second one is kept
constexpr std::string_view kStep = R"({"type":"step",)";
constexpr std::array<std::string_view, 6> kWanted{R"({"type":"run",)",  R"({"type":"generation",)", R"({"type":"epoch",)",
                                                  R"({"type":"test",)", R"({"type":"end",)",        R"({"type":"resume",)"};

// Texts and numbers of a summary by their names in the cache.
template <class Summary, class Visit>
void describe(Summary& s, Visit visit) {
  visit("job", s.job);
  visit("model", s.model);
  visit("data", s.data);
  visit("host", s.host);
  visit("strategy", s.strategy);
  visit("measured_on", s.measured_on);
  visit("reason", s.reason);
  visit("started", s.started);
  visit("ended", s.ended);
  visit("workers", s.workers);
  visit("epochs", s.epochs);
  visit("parameters", s.parameters);
  visit("batch_size", s.batch_size);
  visit("epochs_done", s.epochs_done);
  visit("step", s.step);
  visit("seconds", s.seconds);
  visit("samples_per_second", s.samples_per_second);
  visit("last_loss", s.last_loss);
  visit("test_loss", s.test_loss);
  visit("test_accuracy", s.test_accuracy);
}

Json json_of(double value) { return std::isfinite(value) ? Json(value) : Json(); }
double number_of(const Json& json) { return json.is_null() ? kUnknown : json.get<double>(); }

Json json_of(const EpochScore& s) {
  return {json_of(s.epoch), json_of(s.time), json_of(s.training_loss), json_of(s.training_accuracy), json_of(s.loss), json_of(s.accuracy)};
}

EpochScore score_of(const Json& json) {
  return {.epoch = number_of(json.at(0)),
          .time = number_of(json.at(1)),
          .training_loss = number_of(json.at(2)),
          .training_accuracy = number_of(json.at(3)),
          .loss = number_of(json.at(4)),
          .accuracy = number_of(json.at(5))};
}

struct ToJson {
  Json& json;
  void operator()(const char* name, const std::string& text) const { json[name] = text; }
  void operator()(const char* name, double value) const { json[name] = json_of(value); }
};

struct FromJson {
  const Json& json;
  void operator()(const char* name, std::string& text) const { text = json.at(name).get<std::string>(); }
  void operator()(const char* name, double& value) const { value = number_of(json.at(name)); }
};

void take_run(RunSummary& s, const observe::Record& record) {
  s.started = record.time;
  s.job = word(record, "job");
  s.model = word(record, "model");
  s.data = word(record, "data");
  s.host = word(record, "host");
  s.workers = number(record, "workers");
  s.epochs = number(record, "epochs");
  s.parameters = number(record, "parameters");
  s.batch_size = number(record, "batch_size");
  if (s.strategy.empty()) s.strategy = "local";
}

void take_generation(RunSummary& s, const observe::Record& record) {
  s.workers = number(record, "workers");
  if (const std::string plan = word(record, "plan"); !plan.empty()) s.strategy = plan;
}

void take_end(RunSummary& s, const observe::Record& record) {
  s.reason = word(record, "reason");
  s.ended = record.time;
  s.step = number_or(record, "steps", s.step);
  s.epochs_done = number_or(record, "epochs", s.epochs_done);
  s.seconds = number_or(record, "seconds", s.seconds);
}

// The last whole line of a step. A damaged one hides no run.
void take_step(RunSummary& s, std::string_view line) {
  try {
    const auto record = observe::parse_record(line);
    if (!record) return;
    s.step = number_or(*record, "step", s.step);
    s.last_loss = number_or(*record, "loss", s.last_loss);
    s.ended = std::fmax(s.ended, record->time);  // the end may stand behind it
  } catch (const Error&) {
  }
}

}  // namespace

JournalScan::Place JournalScan::place_of(const std::filesystem::path& journal) {
  struct stat found {};
  if (::stat(journal.c_str(), &found) != 0) return {};
  return {.inode = found.st_ino,
          .size = static_cast<std::uint64_t>(found.st_size),
          .changed = std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec};
}

bool JournalScan::look(const std::filesystem::path& journal) {
  Place now = place_of(journal);
  now.offset = place_.offset;
  if (now == place_) return false;
  if (now.inode != place_.inode || now.size < place_.offset) {
    now.offset = 0;
    summary_ = {};
  }
  std::string last_step;
  LineTail tail(journal, now.offset);
  tail.look([&](std::string_view line) {
    if (line.starts_with(kStep))
      last_step = line;
    else
      take(line);
  });
  if (!last_step.empty()) take_step(summary_, last_step);
  now.offset = tail.offset();
  place_ = now;
  return true;
}

void JournalScan::take(std::string_view line) {
  if (std::ranges::none_of(kWanted, [&](std::string_view begin) { return line.starts_with(begin); })) return;
  try {
    const auto record = observe::parse_record(line);
    if (!record) return;
    if (record->type == "run") take_run(summary_, *record);
    if (record->type == "generation") take_generation(summary_, *record);
    if (record->type == "epoch") take_epoch(*record);
    if (record->type == "end") take_end(summary_, *record);
    if (record->type == "resume") {
      summary_.reason.clear();
      summary_.epochs = number_or(*record, "epochs", summary_.epochs);
      summary_.test_loss = summary_.test_accuracy = kUnknown;
      forget_from(number(*record, "epoch"));
    }
    if (record->type == "test") {
      summary_.test_loss = number(*record, "loss");
      summary_.test_accuracy = number(*record, "accuracy");
    }
  } catch (const Error&) {  // a damaged line hides no run
  }
}

void JournalScan::take_epoch(const observe::Record& record) {
  RunSummary& s = summary_;
  const std::string part = record.find("validation_loss") != nullptr ? "validation" : record.find("test_loss") != nullptr ? "test" : "";
  const EpochScore score{.epoch = number(record, "epoch"),
                         .time = record.time,
                         .training_loss = number(record, "loss"),
                         .training_accuracy = number(record, "accuracy"),
                         .loss = part.empty() ? kUnknown : number(record, part + "_loss"),
                         .accuracy = part.empty() ? kUnknown : number(record, part + "_accuracy")};
  forget_from(score.epoch);
  if (!part.empty()) s.measured_on = part;
  s.epochs_done = score.epoch;
  s.ended = record.time;
  s.step = number_or(record, "step", s.step);
  s.seconds += number_or(record, "seconds", 0);
  s.samples_per_second = number(record, "samples_per_second");
  take_measures(score);
  s.scores.push_back(score);
  if (s.scores.size() <= kMaxScores) return;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < s.scores.size(); i += 2) s.scores[kept++] = s.scores[i];
  if (s.scores.size() % 2 == 1) s.scores[kept++] = score;
  s.scores.resize(kept);
}

void JournalScan::take_measures(const EpochScore& score) {
  RunSummary& s = summary_;
  if (std::isfinite(score.loss) && !(score.loss >= s.best_loss.loss)) s.best_loss = score;
  if (std::isfinite(score.accuracy) && !(score.accuracy <= s.best_accuracy.accuracy)) s.best_accuracy = score;
}

// Epochs that are repeated after a resumption or a rollback: the later record counts.
void JournalScan::forget_from(double epoch) {
  RunSummary& s = summary_;
  if (s.scores.empty() || !(s.scores.back().epoch >= epoch)) return;
  std::erase_if(s.scores, [epoch](const EpochScore& score) { return score.epoch >= epoch; });
  s.best_loss = s.best_accuracy = {};
  for (const EpochScore& score : s.scores) take_measures(score);
  s.epochs_done = s.scores.empty() ? 0 : s.scores.back().epoch;
}

Json JournalScan::to_json() const {
  Json json = {{"inode", place_.inode}, {"size", place_.size}, {"offset", place_.offset}, {"changed", place_.changed}};
  describe(summary_, ToJson{json});
  json["best_loss"] = json_of(summary_.best_loss);
  json["best_accuracy"] = json_of(summary_.best_accuracy);
  json["scores"] = Json::array();
  for (const EpochScore& score : summary_.scores) json["scores"].push_back(json_of(score));
  return json;
}

JournalScan JournalScan::from_json(const Json& json) {
  JournalScan scan;
  scan.place_ = {.inode = json.at("inode").get<std::uint64_t>(),
                 .size = json.at("size").get<std::uint64_t>(),
                 .offset = json.at("offset").get<std::uint64_t>(),
                 .changed = json.at("changed").get<std::int64_t>()};
  describe(scan.summary_, FromJson{json});
  scan.summary_.best_loss = score_of(json.at("best_loss"));
  scan.summary_.best_accuracy = score_of(json.at("best_accuracy"));
  for (const Json& score : json.at("scores")) scan.summary_.scores.push_back(score_of(score));
  return scan;
}

}  // namespace trireme::report
