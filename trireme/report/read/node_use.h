// SPDX-License-Identifier: Apache-2.0
// What each node did and used, from the telemetry's `node` records and the tables of steps.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "trireme/observe/journal_reader.h"
#include "trireme/report/document/bins.h"
#include "trireme/report/document/run_document.h"
#include "trireme/report/read/run_window.h"
#include "trireme/report/read/step_parts.h"

namespace trireme::report {

class NodesPart {
 public:
  NodesPart();

  void take(const observe::Record& record);
  void settle(const RunWindow& window);
  StepTable& table(const std::string& node) { return tables_[node]; }
  void forget_table(const std::string& node) { tables_.erase(node); }
  // `lost`: when each lost node was given up.
  void write_to(RunDocument& document, const std::map<std::string, double>& lost) const;

 private:
  struct Use {
    double time, cpu_seconds, seconds, samples, sample_seconds;
  };
  struct Node {
    NodeFacts facts;
    double last_time = 0;
    Bins series{{"time", "cores_used", "memory", "sent_per_second", "received_per_second", "samples_per_second"}};
    Bins parts;  // sums, with `steps` as the last column
    StepSums sums;
    std::vector<Use> pending;
    std::deque<Use> recent;
    double cpu_seconds = 0, seconds = 0;  // inside the run's window
    Node();
  };

  NodeFacts facts_of(const Node& node, const RunDocument& document, const std::map<std::string, double>& lost) const;
  void write_anatomy(Anatomy& anatomy) const;

  std::map<std::string, Node> nodes_;
  std::map<std::string, StepTable> tables_;
  Bins parts_;
};

}  // namespace trireme::report
