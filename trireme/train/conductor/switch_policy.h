// SPDX-License-Identifier: Apache-2.0
// When a switch pays: a verdict after each epoch, from what was measured in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trireme/observe/journal.h"
#include "trireme/train/records/observer.h"

namespace trireme::train {

// The rule of `at = "auto"`. From the first strategy, in step, to the second, out of step, only if all of these hold:
//   - there is time to gain: workers spend more than kWait of the steps' time waiting for each other;
//   - old gradients cost little: the noise scale is above the batch size, so that the gradient is mostly noise anyway;
//   - the fast first part is over: the loss fell by less than kProgress in the last epoch.
// What was not measured counts against going. And back, if it did not pay: the best epoch since (at least one whole) was not faster
// than the median epoch before; or if the loss rose kWorse epochs in a row. It goes once and comes back once, and never again.
// The loss is that of the validation, or else of the training; never of the test samples, which must not decide anything.
class SwitchPolicy {
 public:
  static constexpr double kWait = 0.20;
  static constexpr double kProgress = 0.05;
  static constexpr int kWorse = 2;
  static constexpr double kLongEnough = 0.5;  // of an epoch: less of it says nothing of the speed

  SwitchPolicy(std::int64_t batch_size, std::int64_t epochs) : batch_size_(batch_size), epochs_(epochs) {}

  enum class Part { first, second };
  // From the step on that follows. The first strategy runs until another begins.
  void on_begin(Part part);
  void on_step(const StepRecord& record);  // each step once, in order
  void on_straggler(const StragglerRecord& record);

  enum class Decision { stay, go, go_back };
  struct Verdict {
    Decision decision = Decision::stay;
    std::string reason;  // in words
    Part part = Part::first;
    std::int64_t epoch = 0;
    std::int64_t batch_size = 0;
    // What it rests on; nothing: not measured.
    std::optional<double> wait_share, noise_scale, progress, loss;
    std::optional<double> samples_per_second, samples_per_second_before;  // of the best epoch since the switch, and of the median before
    std::optional<double> slowness;                                       // of a straggler
  };
  Verdict judge(const EpochRecord& record);

 private:
  struct Mark {  // of an epoch, in it
    double samples = 0, seconds = 0;
  };
  void measure(const EpochRecord& record, Verdict& verdict);
  std::optional<double> speed_of(const EpochRecord& record) const;
  void judge_going(Verdict& verdict) const;
  void judge_return(Verdict& verdict) const;

  std::int64_t batch_size_;
  std::int64_t epochs_;
  Part part_ = Part::first;
  bool has_gone_ = false, has_come_back_ = false;
  // In this epoch, since this part runs.
  Mark begin_, now_;
  double exposed_seconds_ = 0, step_seconds_ = 0;
  std::optional<StragglerRecord> straggler_;
  // Since the beginning.
  std::optional<double> noise_scale_;
  std::optional<double> last_loss_;
  int worse_ = 0;                       // epochs in a row
  std::vector<double> before_, after_;  // samples per second, of each epoch
};

// For the journal.
observe::Fields fields_of(const SwitchPolicy::Verdict& verdict);

}  // namespace trireme::train
