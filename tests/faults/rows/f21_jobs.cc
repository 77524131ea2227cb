// SPDX-License-Identifier: Apache-2.0
// F21: malformed job and cluster files end in exit code 2 (3 for a cluster that can't be), in words, at once; nothing is launched.
#include <fmt/format.h>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"
#include "trireme/base/digest.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr double kAtOnce = 1;

const std::string kGood =
    "[model]\nname = \"mlp_128\"\n[data]\nname = \"synthetic_digits\"\nsamples = 100\ntest_samples = 100\n[train]\nepochs = 1\nbatch_size "
    "= 10\n";

std::string repeated(const std::string& text, int times) {
  std::string all;
  all.reserve(text.size() * static_cast<std::size_t>(times));
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

struct Case {
  std::string name;
  std::string job;
};

std::vector<Case> cases() {
  const std::string data = "[data]\nname = \"synthetic_digits\"\n";
  const std::string layer = "[[model.layers]]\nop = ";
  return {
      {"empty", ""},
      {"100 MB of spaces", std::string(100 << 20, ' ')},
      {"100 MB of one text", "x = \"" + std::string(100 << 20, 'x') + "\""},
      {"10^5 nested arrays", "x = " + std::string(100000, '[')},
      {"10^5 nested tables", repeated("[a.", 100000)},
      {"10^5 dotted names", "a" + repeated(".a", 100000) + " = 1"},
      {"a key twice", kGood + "epochs = 2\n"},
      {"a rate that is no number", kGood + "[train.optimizer]\nname = \"adam\"\nlearning_rate = nan\n"},
      {"negative batch", kGood.substr(0, kGood.find("batch_size")) + "batch_size = -1\n"},
      {"batch beyond 64 bits", kGood.substr(0, kGood.find("batch_size")) + "batch_size = 99999999999999999999\n"},
      {"batch as infinity", kGood.substr(0, kGood.find("batch_size")) + "batch_size = inf\n"},
      {"an unknown key", kGood + "epoch = 2\n"},
      {"an unknown table", kGood + "[trian]\nepochs = 2\n"},
      {"an unknown model", "[model]\nname = \"mlp_129\"\n" + data},
      {"bytes that are no UTF-8", kGood + "# \xff\xfe\n[train.optimizer]\nname = \"\xc3\x28\"\n"},
      {"bytes of zero", kGood + std::string(100, '\0')},
      {"random bytes", random_bytes(100000)},
      {"a path upwards that is not there", "[model]\nname = \"mlp_128\"\n[data]\nreader = \"idx\"\ntrain = [\"../../../no\", \"../no\"]\n"},
      {"a layer of no filters", layer + "\"conv2d\"\nfilters = 0\nkernel = 3\n" + data},
      {"a layer of 2^62 units", layer + "\"dense\"\nunits = 4611686018427387904\n" + data},
      {"layers that don't fit", layer + "\"conv2d\"\nfilters = 4\nkernel = 99\n" + data}};
}

Outcome jobs(Scene& scene) {
  Outcome outcome;
  double slowest = 0;
  std::string slowest_name;
  const std::vector<Case> all = cases();
  for (const Case& one : all) {
    const fs::path job = scene.folder() / "job.toml";
    write_file_atomically(job, one.job);
    const fs::path runs = scene.folder() / "runs";
    const Ended ended = run_trireme({"train", job.string(), "-n", "2", "--runs", runs.string()}, seconds(20));
    if (ended.seconds > slowest) slowest_name = one.name;
    slowest = std::max(slowest, ended.seconds);
    if (ended.code != 2) outcome.problems.push_back(fmt::format("{}: exit code {}: {:.300}", one.name, ended.code, ended.text));
    if (ended.text.find("error:") == std::string::npos) outcome.problems.push_back(one.name + ": nothing was said");
    if (ended.seconds > kAtOnce) outcome.problems.push_back(fmt::format("{}: it took {:.2f} s", one.name, ended.seconds));
    if (fs::exists(runs)) outcome.problems.push_back(one.name + ": a run was made");
  }
  outcome.result = fmt::format("{} kinds refused with exit code 2, the slowest ({}) after {:.2f} s", all.size(), slowest_name, slowest);
  return outcome;
}

// What could end in a command line: in -H, in a host file, in a cluster file, as user, key file or list of known hosts.
std::vector<std::vector<std::string>> dangerous_clusters(const fs::path& folder, const fs::path& canary) {
  const std::vector<std::string> texts{"-oProxyCommand=touch " + canary.string(),
                                       "-oProxyCommand=touch${IFS}" + canary.string(),
                                       "h;touch " + canary.string(),
                                       "$(touch " + canary.string() + ")",
                                       "`touch " + canary.string() + "`",
                                       "h\ntouch " + canary.string(),
                                       "h name",
                                       "h'|touch " + canary.string() + "|'",
                                       "-F/dev/null"};
  std::vector<std::vector<std::string>> all;
  int number = 0;
  const auto quoted = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "\\n");
    return "\"" + text + "\"";
  };
  for (const std::string& text : texts) {
    all.push_back({"-H", text});
    const std::vector<std::string> files{
        fmt::format("[[machines]]\naddress = {}\n", quoted(text)),
        fmt::format("[[machines]]\naddress = \"127.0.0.9\"\nuser = {}\n", quoted(text)),
        fmt::format("[[machines]]\naddress = \"127.0.0.9\"\nname = {}\n", quoted(text)),
        fmt::format("[ssh]\nidentity_file = {}\n[[machines]]\naddress = \"127.0.0.9\"\n", quoted(text)),
        fmt::format("[ssh]\nknown_hosts_file = {}\n[[machines]]\naddress = \"127.0.0.9\"\n", quoted(text))};
    for (const std::string& file : files) {
      const fs::path path = folder / fmt::format("cluster-{}.toml", number++);
      write_file_atomically(path, file);
      all.push_back({"--cluster", path.string()});
    }
    const fs::path hosts = folder / fmt::format("hosts-{}", number++);
    write_file_atomically(hosts, text + "\n");
    all.push_back({"--hostfile", hosts.string()});
    const fs::path blueprint = folder / fmt::format("blueprint-{}.json", number++);
    write_file_atomically(blueprint, fmt::format("{{\"connections\": [{{\"IP\": {}, \"GPUS\": 0}}]}}", quoted(text)));
    all.push_back({"--cluster", blueprint.string()});
  }
  return all;
}

Outcome dangerous(Scene& scene) {
  Outcome outcome;
  const fs::path job = scene.folder() / "job.toml";
  const fs::path canary = scene.folder() / "canary";
  const fs::path runs = scene.folder() / "runs";
  write_file_atomically(job, kGood);
  int count = 0;
  for (const std::vector<std::string>& words : dangerous_clusters(scene.folder(), canary)) {
    std::vector<std::string> arguments{"train", job.string(), "--runs", runs.string()};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Ended ended = run_trireme(arguments, seconds(30));
    ++count;
    if (ended.code != 2 && ended.code != 3)
      outcome.problems.push_back(fmt::format("{} '{}': exit code {}: {:.300}", words[0], words[1], ended.code, ended.text));
    if (fs::exists(canary)) outcome.problems.push_back(fmt::format("{} '{}' was executed", words[0], words[1]));
    fs::remove(canary);
  }
  outcome.result = fmt::format("{} texts refused, none executed", count);
  return outcome;
}

}  // namespace

Rows f21_jobs() {
  return {
      {.id = "F21.jobs", .fault = "malformed job files", .run = jobs, .is_brief = true, .limit = seconds(200)},
      {.id = "F21.dangerous", .fault = "hosts, users and paths that a shell or ssh would obey", .run = dangerous, .limit = seconds(200)}};
}

}  // namespace trireme::tests::rows
