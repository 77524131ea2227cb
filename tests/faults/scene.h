// SPDX-License-Identifier: Apache-2.0
// What a row of the fault table works with: a folder, hosts, trainings, their undisturbed controls, and the judgement.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/faults/checker.h"
#include "tests/faults/fault_row.h"
#include "tests/faults/training.h"

namespace trireme::tests {

// An undisturbed training with the same job, seed and number of nodes.
struct Control {
  std::string model_hash;  // of the last checkpoint
  double accuracy = 0;     // percent
  double seconds = 0;
  std::int64_t peak_memory = 0;
};

// What must come of a training.
struct Expectation {
  enum class Model {
    exact,     // the last checkpoint has the control's bits
    accurate,  // the accuracy is within half a percent of the control's
    any,       // nothing is said
  };
  Model model = Model::accurate;
  int exit_code = 0;
  std::vector<std::string> guilty = {};    // words of the line "error: ..." if it fails
  std::vector<std::string> innocent = {};  // words which that line must not have
  bool clocks_differ = false;
};

// For faults that take their time: settings of longer trainings. Few, because each needs a control.
inline const std::vector<std::string> kLong = {"train.epochs=300"};
inline const std::vector<std::string> kVeryLong = {"train.epochs=900"};
// An order for failpoints: a training that must not end before its faults, however quick the machine.
inline constexpr const char* kPace = "step.begin:1:pace=0.012";

// The moment of a fault.
struct Moment {
  double time = 0;
  std::int64_t generation = 0;
};

// Limits of a fault's recovery; 0: it is not looked at.
struct Limits {
  double detected = 0;
  double recovered = 0;
  std::int64_t lost_steps = -1;  // -1: not looked at
};

class Scene {
 public:
  // `folder` is the row's own; in `shared` controls are kept for other rows. `seed` is of rows that draw lots.
  Scene(std::filesystem::path folder, std::filesystem::path shared, std::uint32_t seed = 1);
  ~Scene();

  const std::filesystem::path& folder() const { return folder_; }
  std::uint32_t seed() const { return seed_; }
  // Hosts made of namespaces; made at the first call, with as many as that asks for. Needs root.
  TestHosts& hosts(int count, const HostOptions& options = {});
  TestHosts& hosts();

  // A training of the harness's own job (a small network on synthetic digits, 1 thread a node, 800 steps of about 10 ms, a checkpoint
  // every half second), with --events. Several may be started one after another: with `resume` they go on with the same events.
  std::unique_ptr<Training> start(const TrainingSetup& setup);
  // The same, and it has done `step` steps.
  std::unique_ptr<Training> begin(const TrainingSetup& setup, std::int64_t step = 30);
  const Control& control(const TrainingSetup& setup, std::chrono::seconds limit = std::chrono::seconds(300));
  static Moment moment(const Training& training, double time = wall_time());

  // Waits for the training's end and compares with the control, the promises and what is left behind. Exit codes that are not the
  // expected one, violations and differences become problems.
  Outcome judge(Training& training, const TrainingSetup& setup, const Expectation& expectation);
  // As judge does, of a training that has ended some other way; for rows that need parts of it.
  static void check_invariants(const Training& training, const Observed& observed, Outcome& outcome);
  // Fills in times and lost work of a fault, and notes a problem for each limit passed.
  static void measure(const Training& training, const Moment& fault, const Limits& limits, Outcome& outcome);

 private:
  std::filesystem::path folder_;
  std::filesystem::path shared_;
  std::uint32_t seed_;
  std::unique_ptr<TestHosts> hosts_;
  std::map<std::string, Control> controls_;
  int trainings_ = 0;
};

// For rows that can't go on: its message becomes the row's problem.
void require(bool condition, const std::string& problem);

}  // namespace trireme::tests
