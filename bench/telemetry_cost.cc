// SPDX-License-Identifier: Apache-2.0
// What watching costs: a look at the machine, and a second's report with many steps on its way into the files.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "trireme/train/telemetry/telemetry_recorder.h"

namespace {

constexpr int kRounds = 30;   // all of them below the most rows that a file gets
constexpr int kSteps = 1000;  // of a report: steps of one millisecond

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Of one call: the best of five times so many.
double cost(const std::function<void()>& call) {
  double best = 1e9;
  for (int repetition = 0; repetition < 5; ++repetition) {
    const double start = cpu_seconds();
    for (int i = 0; i < kRounds; ++i) call();
    best = std::min(best, (cpu_seconds() - start) / kRounds);
  }
  return best;
}

void print(const char* what, double seconds) {
  fmt::print("{:60} {:8.3f} ms  {:6.3f} % of a core, once a second\n", what, 1e3 * seconds, 100 * seconds);
}

}  // namespace

int main() {
  using namespace trireme;
  const auto folder = std::filesystem::temp_directory_path() / "trireme_telemetry_cost";
  std::filesystem::create_directories(folder);
  observe::MachineSampler machine;
  observe::ProcessSampler process;
  train::TelemetryReport report{.time = 1, .seconds = 1};
  report.steps.assign(kSteps,
                      {.step = 123456, .epoch = 3, .start = 1794858640.767767, .seconds = 0.001, .samples = 32, .forward_seconds = 0.0004});
  const std::string bytes = train::pack(report);
  {
    train::TelemetryRecorder recorder(folder);
    print("a look at the machine and the process", cost([&] { machine.look(), process.look(); }));
    print(fmt::format("a node's report with {} steps ({} kB)", kSteps, bytes.size() >> 10).c_str(), cost([&] { train::pack(report); }));
    print("the same received and written by the coordinator", cost([&] { recorder.record("0", "here", train::unpack_telemetry(bytes)); }));
  }
  std::filesystem::remove_all(folder);
}
