// SPDX-License-Identifier: Apache-2.0
// F29: lists of hosts with mistakes, and hosts that can't be used: reported for each within ssh's timeout, and nothing is started.
#include <fmt/format.h>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

using std::chrono::seconds;

struct Mistake {
  std::string name;
  std::vector<std::string> flags;
  std::string words;  // of the message
};

Outcome lists(Scene& scene) {
  const auto job = scene.folder() / "job.toml";
  const auto runs = scene.folder() / "runs";
  write_file_atomically(job, "[model]\nname = \"mlp_128\"\n[data]\nname = \"synthetic_digits\"\nsamples = 100\n");
  write_file_atomically(scene.folder() / "empty", "\n# nobody\n");
  const std::vector<Mistake> mistakes{{"a name that can't be resolved", {"-H", "no-such-host.invalid"}, "no-such-host.invalid"},
                                      {"the same twice", {"-H", "127.0.0.9,127.0.0.9"}, "twice"},
                                      {"more nodes than slots", {"-H", "127.0.0.9:2", "-n", "3"}, "slots"},
                                      {"no slots", {"-H", "127.0.0.9:0"}, "slots"},
                                      {"no machine", {"--hostfile", (scene.folder() / "empty").string()}, "machine"},
                                      {"a file that is not there", {"--cluster", (scene.folder() / "no.toml").string()}, "no.toml"},
                                      {"no listener", {"-H", "127.0.0.9"}, "127.0.0.9"}};
  Outcome outcome;
  double slowest = 0;
  for (const Mistake& mistake : mistakes) {
    std::vector<std::string> words{"train", job.string(), "--runs", runs.string()};
    words.insert(words.end(), mistake.flags.begin(), mistake.flags.end());
    const Ended ended = run_trireme(words, seconds(30));
    slowest = std::max(slowest, ended.seconds);
    if (ended.code != 2 && ended.code != 3)
      outcome.problems.push_back(fmt::format("{}: exit code {}: {}", mistake.name, ended.code, ended.text));
    if (ended.text.find(mistake.words) == std::string::npos)
      outcome.problems.push_back(fmt::format("{}: '{}' is not in: {}", mistake.name, mistake.words, ended.text));
    if (std::filesystem::exists(runs)) outcome.problems.push_back(mistake.name + ": a run was made");
  }
  if (slowest > 12) outcome.problems.push_back(fmt::format("it took {:.1f} s", slowest));
  outcome.result = fmt::format("{} mistakes reported, the slowest after {:.2f} s", mistakes.size(), slowest);
  return outcome;
}

// With real sshds: refused, changed and unknown keys, unreachable hosts, noise, no home, another architecture.
Outcome hosts(Scene&) {
  Outcome outcome;
  const int count =
      run_tests("tests/hosts/hosts_test",
                "Login.*:Shipping.NoHome*:Shipping.AnotherArchitecture*:TrainingOnHosts.AnUnreachable*:TrainingOnHosts.AChanged*", outcome);
  outcome.result = fmt::format("{} tests", count);
  return outcome;
}

}  // namespace

Rows f29_hosts() {
  return {{.id = "F29.lists", .fault = "lists of hosts with mistakes", .run = lists, .is_brief = true},
          {.id = "F29.hosts", .fault = "hosts that can't be used", .run = hosts, .limit = seconds(200)}};
}

}  // namespace trireme::tests::rows
