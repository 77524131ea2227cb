// SPDX-License-Identifier: Apache-2.0
// What machines used, second by second: a machine's own series and summary, and those of all together.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/observe/journal_reader.h"
#include "trireme/report/document/bins.h"
#include "trireme/report/document/moments.h"
#include "trireme/report/document/run_document.h"
#include "trireme/report/read/run_window.h"
#include "trireme/report/read/series_fields.h"

namespace trireme::report {

// What one machine did in a window; of its fields those that have a curve.
struct MachineSample {
  std::string host;
  double time = 0;     // end of its window
  double seconds = 1;  // length of it
  double cores = 1;
  std::vector<double> values = std::vector<double>(machine_series_fields().size(), kUnknown);  // bytes per second, others as measured

  double value(std::string_view series) const;
};
MachineSample machine_sample(const observe::Record& record);

// Series of all samples, summary of those that count.
class MachineUse {
 public:
  MachineUse();
  void show(const MachineSample& sample);   // in the series
  void count(const MachineSample& sample);  // in the summary
  void write_to(MachineFacts& facts) const;

 private:
  Bins series_;
  std::vector<Extremes> extremes_;  // of each field
  Extremes cpu_;
};

// Samples of several machines to one of all, a second each: each field as its description combines it.
class ClusterSum {
 public:
  // The sample of the second before, when a new second begins; samples come roughly in order.
  template <class Take>
  void add(const MachineSample& sample, Take take) {
    const double second = std::floor(sample.time);
    if (second > second_ && !last_.empty()) take(sum());
    second_ = std::max(second, second_);
    last_[sample.host] = sample;
  }
  bool is_empty() const { return last_.empty(); }
  MachineSample sum() const;

 private:
  double second_ = 0;
  std::map<std::string, MachineSample> last_;
};

class MachinesPart {
 public:
  void take(const observe::Record& record);
  // Samples that the window has reached are counted or left out.
  void settle(const RunWindow& window);
  void write_to(RunDocument& document) const;

 private:
  struct Machine {
    MachineUse use;
    double cores = kUnknown, memory_total = kUnknown;
    std::array<Extremes, 4> baseline;  // cpu, memory, network in and out
    bool has_baseline = false;
  };
  static void take_baseline(Machine& machine, const MachineSample& sample);

  std::vector<std::string> order_;  // of hosts, as they were first seen
  std::map<std::string, Machine> machines_;
  MachineUse cluster_;
  ClusterSum shown_;
  ClusterSum counted_;
  std::vector<MachineSample> pending_;
};

}  // namespace trireme::report
