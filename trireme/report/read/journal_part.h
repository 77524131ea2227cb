// SPDX-License-Identifier: Apache-2.0
// What a run's journal says: configuration, progress, curves, results, events.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "trireme/observe/journal_reader.h"
#include "trireme/observe/records/server_record.h"
#include "trireme/report/document/bins.h"
#include "trireme/report/document/moments.h"
#include "trireme/report/document/run_document.h"
#include "trireme/report/read/run_window.h"
#include "trireme/report/read/step_parts.h"

namespace trireme::report {

class JournalPart {
 public:
  JournalPart();

  void take(const observe::Record& record);
  void write_to(RunDocument& document) const;

  const RunWindow& window() const { return window_; }
  bool has_ended() const { return !ending_.empty(); }
  // Last sign of a node that was lost, by its name.
  const std::map<std::string, double>& lost() const { return lost_; }

 private:
  struct Epoch {
    double epoch, step, time, training_loss, training_accuracy, loss, accuracy, seconds, samples_per_second;
    bool has_validation;
  };
  struct Moment {
    double time, seen;
  };

  void take_run(const observe::Record& record);
  void take_strategy(const observe::Record& record);
  void take_generation(const observe::Record& record);
  void take_step(const observe::Record& record);
  void take_rate(const observe::Record& record);
  void take_skips(const observe::Record& record, double step);
  void take_anatomy(const observe::Record& record, double seconds);
  void take_epoch(const observe::Record& record);
  void take_server(const observe::Record& record);
  void take_switch(const observe::Record& record);
  void take_end(const observe::Record& record);
  void take_other(const observe::Record& record);
  void forget_after(double step);
  void begin_session(double time);
  void add_event(Event event);
  void count_step(double step);

  void write_progress(RunDocument& document) const;
  void write_result(RunDocument& document) const;
  void write_staleness(RunDocument& document) const;
  void write_anatomy(Anatomy& anatomy) const;
  std::string first_or_local() const;
  Series step_series() const;
  Series epoch_series() const;

  RunFacts run_;
  RunWindow window_;
  bool is_new_session_ = true;
  double last_time_ = kUnknown;
  double interrupted_seconds_ = 0;
  double validation_samples_ = kUnknown;
  double step_ = 0, epoch_ = 0, samples_seen_ = 0;
  std::deque<Moment> recent_;
  Bins steps_;
  std::vector<Epoch> epochs_;
  double penalty_ = kUnknown;
  double highest_rate_ = kUnknown;
  double rates_ = 0, rated_samples_ = 0;  // sums over all updates
  double test_loss_ = kUnknown, test_accuracy_ = kUnknown, test_samples_ = kUnknown;
  double training_seconds_ = kUnknown;
  double switch_seconds_ = kUnknown;
  double workers_now_ = 1;
  double nodes_ = 0;
  std::string ending_;
  std::vector<Stretch> stretches_;
  std::vector<StrategyFacts> strategies_;
  std::vector<Event> events_;
  std::map<int, observe::ServerRecord> servers_;  // sums over its records
  double server_wait_share_ = kUnknown, servers_needed_ = kUnknown, server_workers_ = kUnknown;
  std::vector<double> step_histogram_;
  Moments staleness_;
  double most_stale_ = kUnknown;
  std::map<double, double> skips_;  // by step
  std::map<std::string, double> lost_;
  StepMoments parts_;
  Moments idle_seconds_;  // what the parts leave of a step
  bool has_first_step_ = false;
};

}  // namespace trireme::report
