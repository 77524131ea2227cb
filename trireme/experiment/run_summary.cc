// SPDX-License-Identifier: Apache-2.0
// Records of a journal to the numbers of a comparison.
#include "trireme/experiment/run_summary.h"

#include <algorithm>
#include <fstream>

#include "trireme/base/json.h"

namespace trireme::experiment {
namespace {

double real_or_unknown(const observe::Record& record, std::string_view field) {
  return record.find(field) == nullptr ? kUnknown : record.real(field);
}

double held_out(const observe::Record& epoch, const std::string& what) {
  const double validation = real_or_unknown(epoch, "validation_" + what);
  return epoch.find("validation_" + what) == nullptr ? real_or_unknown(epoch, "test_" + what) : validation;
}

struct Reader {
  void epoch(const observe::Record& record) {
    const EpochSummary now{.epoch = record.integer("epoch"),
                           .training_loss = record.real("loss"),
                           .training_accuracy = real_or_unknown(record, "accuracy"),
                           .loss = held_out(record, "loss"),
                           .accuracy = held_out(record, "accuracy"),
                           .seconds = record.time - start};
    // After a resumption epochs are recorded again, and the later record counts.
    std::erase_if(summary.epochs, [&](const EpochSummary& old) { return old.epoch >= now.epoch; });
    summary.epochs.push_back(now);
    samples += static_cast<double>(record.integer("samples"));
    seconds += record.real("seconds");
  }

  void step(const observe::Record& record) {
    if (start == 0) start = record.time - record.real("seconds");
    if (record.find("staleness") == nullptr) return;
    staleness += record.real("staleness");
    ++pushes;
  }

  void take(const observe::Record& record) {
    if (record.type == "run" && record.find("validation_samples") != nullptr) summary.samples = record.integer("validation_samples");
    if (record.type == "step") step(record);
    if (record.type == "epoch") epoch(record);
    if (record.type == "switch" && record.find("seconds") != nullptr)
      summary.switch_seconds = (summary.switch_seconds > 0 ? summary.switch_seconds : 0) + record.real("seconds");
    if (record.type == "test") {
      test_loss = record.real("loss");
      test_accuracy = real_or_unknown(record, "accuracy");
      if (record.find("samples") != nullptr) summary.samples = record.integer("samples");
      is_tested = true;
    }
    if (record.type == "end") {
      summary.training_seconds = record.real("seconds");
      const std::string& reason = record.text("reason");
      summary.is_complete = reason == "completed" || reason == "stopped early";
    } else {
      summary.is_complete = false;  // it went on after that
    }
  }

  RunSummary finished() {
    if (pushes > 0) summary.staleness = staleness / pushes;
    if (seconds > 0) summary.samples_per_second = samples / seconds;
    if (summary.epochs.empty()) return std::move(summary);
    const EpochSummary& last = summary.epochs.back();
    summary.training_loss = last.training_loss;
    summary.training_accuracy = last.training_accuracy;
    summary.loss = is_tested ? test_loss : last.loss;
    summary.accuracy = is_tested ? test_accuracy : last.accuracy;
    summary.seconds = last.seconds;
    return std::move(summary);
  }

  RunSummary summary;
  double start = 0;
  double samples = 0;
  double seconds = 0;
  double staleness = 0;
  double pushes = 0;
  bool is_tested = false;
  double test_loss = kUnknown;
  double test_accuracy = kUnknown;
};

}  // namespace

RunSummary summarize(const std::vector<observe::Record>& journal) {
  Reader reader;
  for (const observe::Record& record : journal) reader.take(record);
  return reader.finished();
}

const JournalTail::Position& JournalTail::look() {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(offset_);
  for (std::string line; file && std::getline(file, line) && !file.eof();) {
    offset_ += static_cast<std::streamoff>(line.size()) + 1;
    take(line);
  }
  return position_;
}

void JournalTail::take(const std::string& line) {
  const auto json = parse_json_or_discard(line);
  if (!json.is_object()) return;
  const auto number = [&](const char* field) { return json.contains(field) && json[field].is_number() ? json[field].get<double>() : 0.0; };
  const std::string type = json.value("type", "");
  if (type == "run") {
    samples_ = static_cast<std::int64_t>(number("samples"));
    position_.epochs = static_cast<std::int64_t>(number("epochs"));
  }
  if (type != "step") return;
  const auto epoch = static_cast<std::int64_t>(number("epoch"));
  if (epoch != position_.epoch) right_ = counted_ = 0;
  position_.epoch = epoch;
  right_ += number("accuracy") * number("samples");
  counted_ += number("samples");
  if (counted_ > 0) position_.accuracy = right_ / counted_;
  if (samples_ > 0 && position_.epochs > 0)
    position_.fraction = std::min(1.0, number("samples_seen") / static_cast<double>(samples_) / static_cast<double>(position_.epochs));
}

}  // namespace trireme::experiment
