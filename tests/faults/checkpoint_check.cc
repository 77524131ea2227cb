// SPDX-License-Identifier: Apache-2.0
// I1 on the disk: the last two committed checkpoints are there, whole, and of the step that was promised.
#include <fmt/format.h>

#include <sstream>

#include "tests/faults/checks.h"
#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/json.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 2;

// What is wrong with it; empty: nothing.
std::string fault_of(const fs::path& directory, std::int64_t step) {
  try {
    std::istringstream sums(read_file(directory / "SHA256SUMS"));
    std::string sum;
    std::string name;
    int files = 0;
    for (; sums >> sum >> name; ++files)
      if (digest_of_file(Digest::Kind::sha256, directory / name) != sum) return name + " does not have its checksum";
    if (files < 3) return "SHA256SUMS is not whole";
    const auto manifest = parse_json(read_file(directory / "manifest.json"));
    const std::int64_t written = manifest.at("cursor").at("step");
    return written == step ? "" : fmt::format("it is of step {}", written);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

void check_checkpoints(const Lineage& all, const fs::path& run, Violations& found) {
  std::map<std::int64_t, Commit> newest;  // by step; the last two are kept
  for (const Commit& commit : all.commits) newest[commit.step] = commit;
  while (newest.size() > kKept) newest.erase(newest.begin());
  for (const auto& [step, commit] : newest) {
    const fs::path directory = run / "checkpoints" / fs::path(commit.directory).filename();
    const std::string fault = fault_of(directory, step);
    if (!fault.empty())
      found.push_back({"I1", "run", fmt::format("{}: {}", directory.string(), fault), fmt::format("commit of step {}", step)});
  }
}

}  // namespace trireme::tests
