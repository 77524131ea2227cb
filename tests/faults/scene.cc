// SPDX-License-Identifier: Apache-2.0
// Trainings of a row, their controls, and the judgement.
#include "tests/faults/scene.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;

constexpr double kAccurate = 0.5;  // percent of the control's accuracy

// Steps of some 10 ms with three nodes on two cores, and an accuracy that a broken training would not reach.
constexpr std::string_view kJob = R"(
[model]
name = "mlp_128"
[data]
name = "synthetic_digits"
samples = 6000
test_samples = 2000
[train]
epochs = 80
batch_size = 600
checkpoint_seconds = 0.5
[train.optimizer]
name = "adam"
[strategy]
shares = "equal"
)";

std::string hash_of(const std::string& bytes) { return digest_of(Digest::Kind::sha256, bytes); }

Control parse_control(const std::string& text) {
  const Json json = parse_json(text);
  return {.model_hash = json.at("model_hash"),
          .accuracy = json.at("accuracy"),
          .seconds = json.at("seconds"),
          .peak_memory = json.at("peak_memory")};
}

std::string control_text(const Control& control) {
  return Json{{"model_hash", control.model_hash},
              {"accuracy", control.accuracy},
              {"seconds", control.seconds},
              {"peak_memory", control.peak_memory}}
      .dump();
}

// What can change a model's bits: not where its nodes run, nor what is done to them.
std::string control_name(const TrainingSetup& setup) {
  return fmt::format("control-{}", hash_of(fmt::format("{} nodes, {}", setup.nodes, fmt::join(setup.settings, " "))).substr(0, 12));
}

void compare(const Training& training, const Control& control, Expectation::Model expected, Outcome& outcome) {
  if (expected == Expectation::Model::any) return;
  const double accuracy = training.accuracy();
  const bool is_same = hash_of(training.model()) == control.model_hash;
  outcome.result = is_same ? "exact" : fmt::format("{:.2f} % ({:.2f} % undisturbed)", accuracy, control.accuracy);
  if (expected == Expectation::Model::exact && !is_same)
    outcome.problems.push_back(fmt::format("the model is not that of the undisturbed run: {}", outcome.result));
  if (!(std::abs(accuracy - control.accuracy) <= kAccurate))
    outcome.problems.push_back(fmt::format("accuracy {:.2f} %, undisturbed {:.2f} %", accuracy, control.accuracy));
}

}  // namespace

Scene::Scene(fs::path folder, fs::path shared, std::uint32_t seed) : folder_(std::move(folder)), shared_(std::move(shared)), seed_(seed) {
  make_directories(folder_);
  make_directories(shared_);
}

Scene::~Scene() = default;

TestHosts& Scene::hosts(int count, const HostOptions& options) {
  if (hosts_) return *hosts_;
  hosts_ = std::make_unique<TestHosts>(count, options);
  // Which algorithm is fastest is measured, and not always with the same answer: hosts get ours, or no model could be exact.
  const fs::path algorithms = shared_ / "cache/trireme/algorithms.json";
  for (std::size_t i = 0; i < hosts_->size() && fs::exists(algorithms); ++i)
    write_file_atomically(hosts_->home(i) / ".cache/trireme/algorithms.json", read_file(algorithms));
  return *hosts_;
}

TestHosts& Scene::hosts() {
  ensure(hosts_ != nullptr, "hosts(count) is called first");
  return *hosts_;
}

std::unique_ptr<Training> Scene::start(const TrainingSetup& setup) {
  if (setup.on_hosts) control({.nodes = setup.nodes});  // before the hosts: it finds the algorithms
  const fs::path job = folder_ / "job.toml";
  write_file_atomically(job, kJob);
  TrainingSetup complete = setup;
  complete.environment.emplace("XDG_CACHE_HOME", (shared_ / "cache").string());
  ++trainings_;
  Training::Places places{.job = job,
                          .runs = folder_ / "runs",
                          .events = folder_ / "events",
                          .log = folder_ / fmt::format("log-{}.txt", trainings_),
                          .marks = folder_ / fmt::format("marks-{}", trainings_),
                          .hosts = setup.on_hosts ? &hosts(setup.nodes) : nullptr};
  return std::make_unique<Training>(complete, std::move(places));
}

std::unique_ptr<Training> Scene::begin(const TrainingSetup& setup, std::int64_t step) {
  auto training = start(setup);
  require(training->reaches_step(step), fmt::format("the training did not reach step {}: {}", step, training->text()));
  return training;
}

const Control& Scene::control(const TrainingSetup& setup, std::chrono::seconds limit) {
  const std::string name = control_name(setup);
  const auto known = controls_.find(name);
  if (known != controls_.end()) return known->second;
  const fs::path file = shared_ / (name + ".json");
  if (!fs::exists(file)) {
    Scene scene(shared_ / name, shared_);
    const double begin = wall_time();
    auto training = scene.start({.nodes = setup.nodes, .settings = setup.settings});
    const auto code = training->wait(limit);
    require(code == 0, fmt::format("the undisturbed training failed: {}", training->text()));
    const Control control{.model_hash = hash_of(training->model()),
                          .accuracy = training->accuracy(),
                          .seconds = wall_time() - begin,
                          .peak_memory = training->peak_memory().bytes};
    write_file_atomically(file, control_text(control));
  }
  return controls_[name] = parse_control(read_file(file));
}

Moment Scene::moment(const Training& training, double time) {
  Moment moment{.time = time};
  for (const ProcessLog& log : training.history().coordinators)
    for (const observe::Record& record : log.records)
      if (record.type == "generation" && record.time <= time) moment.generation = record.integer("generation");
  return moment;
}

Outcome Scene::judge(Training& training, const TrainingSetup& setup, const Expectation& expectation) {
  Outcome outcome;
  Observed observed{.exit_code = training.wait(),
                    .expected_exit = expectation.exit_code,
                    .text = training.text(),
                    .guilty = expectation.guilty,
                    .innocent = expectation.innocent,
                    .clocks_differ = expectation.clocks_differ};
  if (!observed.exit_code) {
    observed.hang = "trireme train had not ended after 240 s";
  } else {
    observed.left_behind = training.left_behind();
    observed.run = training.run();
  }
  const Control& control = this->control(setup);
  const PeakMemory peak = training.peak_memory();
  observed.peak_memory = peak.bytes;
  observed.largest = peak.whose;
  observed.control_memory = control.peak_memory;
  check_invariants(training, observed, outcome);
  if (observed.exit_code == 0) compare(training, control, expectation.model, outcome);
  return outcome;
}

void Scene::check_invariants(const Training& training, const Observed& observed, Outcome& outcome) {
  outcome.invariants = "I1-I9";
  for (const Violation& violation : check(training.history(), observed)) outcome.problems.push_back(violation.in_words());
}

void Scene::measure(const Training& training, const Moment& fault, const Limits& limits, Outcome& outcome) {
  const Recovery found = recovery(training.history(), fault.time, fault.generation);
  outcome.detected = found.detected;
  outcome.recovered = found.recovered;
  outcome.lost_steps = found.lost_steps;
  const auto judge_time = [&](std::string_view what, const std::optional<double>& time, double limit) {
    if (limit > 0 && !time) outcome.problems.push_back(fmt::format("it was never {}", what));
    if (limit > 0 && time && *time > limit)
      outcome.problems.push_back(fmt::format("{} after {:.2f} s; the limit is {} s", what, *time, limit));
  };
  judge_time("detected", found.detected, limits.detected);
  judge_time("recovered", found.recovered, limits.recovered);
  if (limits.lost_steps >= 0 && found.lost_steps.value_or(0) > limits.lost_steps)
    outcome.problems.push_back(fmt::format("{} steps were done again; at most {} may be", *found.lost_steps, limits.lost_steps));
}

void require(bool condition, const std::string& problem) {
  if (!condition) throw Error{failed_precondition, "{}", problem};
}

}  // namespace trireme::tests
