// SPDX-License-Identifier: Apache-2.0
// F34: a program of another version takes part, and a checkpoint of another format is resumed: refused, with both versions.
#include <fmt/format.h>
#include <unistd.h>

#include <future>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"
#include "trireme/base/files.h"
#include "trireme/base/process.h"

namespace trireme::tests::rows {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr std::string_view kOwn = TRIREME_VERSION;

// This program, but for its version. Compilers put so short a text into instructions, four bytes and then the rest: "0.1." becomes "0.9.".
fs::path other_version(const fs::path& folder, const std::string& version) {
  constexpr std::size_t kInOneInstruction = 4;
  std::string bytes = read_file(TRIREME_BINARY);
  const std::string own(kOwn.substr(0, kInOneInstruction));
  for (std::size_t at = bytes.find(own); at != std::string::npos; at = bytes.find(own, at + 1))
    bytes.replace(at, own.size(), version, 0, own.size());
  fs::path copy = folder / "trireme";
  write_file_atomically(copy, bytes);
  fs::permissions(copy, fs::perms::owner_all);
  const ProcessOutput said = run_process({copy.string(), "--version"}, seconds(20));
  require(said.out.find(version) != std::string::npos, "the version could not be changed in the program; it says " + said.out + said.err);
  return copy;
}

std::vector<std::string> as_rank(int rank, const fs::path& program, const Scene& scene, int port) {
  return {"env",
          fmt::format("RANK={}", rank),
          "WORLD_SIZE=2",
          "MASTER_ADDR=127.0.0.1",
          fmt::format("MASTER_PORT={}", port),
          fmt::format("XDG_CACHE_HOME={}", (scene.folder() / "cache").string()),
          program.string(),
          "train",
          (scene.folder() / "job.toml").string(),
          "--runs",
          (scene.folder() / "runs").string(),
          "--threads",
          "1",
          "--start-timeout",
          "10"};
}

Outcome other_worker(Scene& scene) {
  std::string version(kOwn);
  version[2] = version[2] == '9' ? '8' : '9';
  const fs::path other = other_version(scene.folder(), version);
  write_file_atomically(scene.folder() / "job.toml",
                        "[model]\nname = \"mlp_128\"\n[data]\nname = \"synthetic_digits\"\nsamples = 600\n[train]\nepochs = 1\n");
  const int port = 20000 + ::getpid() % 10000;
  auto worker = std::async(std::launch::async, [&] { return run_process(as_rank(1, other, scene, port), seconds(60)); });
  const ProcessOutput coordinator = run_process(as_rank(0, TRIREME_BINARY, scene, port), seconds(60));
  const ProcessOutput node = worker.get();
  Outcome outcome{.result = "refused, with both versions"};
  const std::string text = coordinator.out + coordinator.err + node.out + node.err;
  for (const ProcessOutput& output : {coordinator, node}) {
    if (!output.status) outcome.problems.push_back("it had not ended after 60 s: " + text);
    if (output.status && output.status->is_success()) outcome.problems.push_back("it ended well: " + text);
  }
  for (const std::string& word : {std::string(kOwn), version})
    if (text.find(word) == std::string::npos) outcome.problems.push_back(fmt::format("version {} is not named: {}", word, text));
  return outcome;
}

}  // namespace

Rows f34_versions() {
  return {{.id = "F34.other_worker", .fault = "a worker's program has another version", .run = other_worker},
          {.id = "F34.formats", .fault = "a checkpoint of a newer format, or of another model", .run = [](Scene&) {
             Outcome outcome;
             const int count = run_tests("trireme_train_test", "Checkpoints.ANewerFormat*:Checkpoints.AnotherModel*", outcome);
             outcome.result = fmt::format("{} tests: refused, with both", count);
             return outcome;
           }}};
}

}  // namespace trireme::tests::rows
