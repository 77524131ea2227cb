// SPDX-License-Identifier: Apache-2.0
// Of what a node's steps are made: parts that follow one another, and work beside them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/observe/number_table.h"
#include "trireme/observe/records/field.h"
#include "trireme/report/document/moments.h"
#include "trireme/report/document/run_document.h"

namespace trireme::report {

// Fields of a record that are parts of a step, as its description has them: "forward_seconds".
struct PartFields {
  std::vector<std::string_view> of_step, beside;
};

template <class R>
const PartFields& part_fields() {
  static const PartFields kFields = [] {
    PartFields found;
    const R record;
    describe(record, [&](const observe::Field& field, const auto&) {
      if (field.part == observe::Part::of_step) found.of_step.push_back(field.name);
      if (field.part == observe::Part::beside) found.beside.push_back(field.name);
    });
    return found;
  }();
  return kFields;
}

const PartFields& node_part_fields();  // of a node's steps, in its telemetry and its table

std::string part_name(std::string_view field);  // "forward"

// Sums over some steps, as a telemetry record has them.
struct StepSums {
  double steps = 0;
  double seconds = 0;
  std::vector<double> parts = std::vector<double>(node_part_fields().of_step.size());
  std::vector<double> beside = std::vector<double>(node_part_fields().beside.size());

  void add(const StepSums& other);
};
// Means without spreads.
Anatomy anatomy_of(const StepSums& sums);

// Every step by itself, as the table of steps and the journal have them.
class StepMoments {
 public:
  explicit StepMoments(const PartFields& fields = node_part_fields());

  // value(field) of one step.
  template <class Value>
  void add(const Value& value) {
    seconds_.add(value("seconds"));
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].add(value(fields_->of_step[i]));
    for (std::size_t i = 0; i < beside_.size(); ++i) beside_[i].add(value(fields_->beside[i]));
  }
  void join(const StepMoments& other);  // of the same fields
  double count() const { return seconds_.count(); }
  Anatomy anatomy() const;

 private:
  const PartFields* fields_;
  Moments seconds_;
  std::vector<Moments> parts_, beside_;
};

AnatomyPart part_of(std::string name, const Moments& moments, double step_seconds);

// RUN/steps/<node>.csv, line by line. The first step is left out: it pays for what happens once.
class StepTable {
 public:
  void take(std::string_view line);
  const StepMoments& moments() const { return moments_; }

 private:
  observe::NumberTable table_;
  bool has_first_ = false;
  StepMoments moments_;
};

}  // namespace trireme::report
