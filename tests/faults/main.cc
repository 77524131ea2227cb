// SPDX-License-Identifier: Apache-2.0
// trireme_faults: runs rows of the fault table, each in a process of its own with a limit, and prints the table.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "tests/faults/fault_table.h"
#include "tests/faults/scene.h"
#include "tests/faults/soak.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/cluster/process.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> rows;
  bool all = false;
  bool brief = false;
  bool list = false;
  std::string table;  // a Markdown file to put the rows into
  std::string keep;   // folder to work in, and to leave there
  double soak = 0;    // minutes
  std::uint32_t seed = 0;
  // For the processes of single rows:
  std::string one;
  std::string folder;
  std::string shared;
};

// "F1" names all rows F1.*; a whole id names one.
bool is_chosen(const FaultRow& row, const Options& options) {
  if (options.all || (options.brief && row.is_brief)) return true;
  return std::ranges::any_of(options.rows, [&](const std::string& name) { return row.id == name || row.id.starts_with(name + "."); });
}

Rows chosen_rows(const Options& options) {
  Rows chosen;
  for (const FaultRow& row : rows::catalog())
    if (is_chosen(row, options)) chosen.push_back(row);
  if (options.soak > 0) chosen.push_back(soak(options.soak, options.seed));
  if (chosen.empty()) throw Error{not_found, "no row has this name; see --list"};
  return chosen;
}

Outcome failure(const std::string& problem) {
  Outcome outcome;
  outcome.problems.push_back(problem);
  return outcome;
}

fs::path outcome_file(const fs::path& folder) { return folder / "outcome.json"; }

int run_one(const Options& options) {
  Options only = options;
  if (options.soak == 0) only.rows = {options.one};
  const FaultRow row = chosen_rows(only).front();
  Outcome outcome;
  try {
    Scene scene(options.folder, options.shared);
    outcome = row.run(scene);
  } catch (const std::exception& error) {
    outcome.problems.emplace_back(error.what());
  }
  write_file_atomically(outcome_file(options.folder), outcome_text(outcome));
  return 0;
}

std::vector<std::string> command_of(const FaultRow& row, const Options& options, const fs::path& folder, const fs::path& shared) {
  std::vector<std::string> words{
      fs::read_symlink("/proc/self/exe").string(), "--one", row.id, "--folder", folder.string(), "--shared", shared.string()};
  if (row.id == "F32.soak")
    words.insert(words.end(), {"--soak", fmt::format("{}", options.soak), "--seed", fmt::format("{}", options.seed)});
  return words;
}

Outcome run_in_process(const FaultRow& row, const Options& options, const fs::path& folder, const fs::path& shared) {
  fs::remove_all(folder);
  make_directories(folder);
  cluster::Process process({.argv = command_of(row, options, folder, shared),
                            .on_line = [](cluster::Stream, std::string_view line) { fmt::print(stderr, "  {}\n", line); },
                            .on_exit = {}});
  const auto status = process.wait_for(row.limit);
  if (!status) return failure(fmt::format("I8 harness: the row had not ended after {} s", row.limit.count()));
  if (!status->is_success() || !fs::exists(outcome_file(folder))) return failure("the harness itself " + status->in_words());
  return parse_outcome(read_file(outcome_file(folder)));
}

int run_rows(const Options& options) {
  const fs::path folder =
      options.keep.empty() ? fs::temp_directory_path() / fmt::format("trireme-faults-{}", ::getpid()) : fs::path(options.keep);
  std::size_t failed = 0;
  const Rows chosen = chosen_rows(options);
  fmt::print("{}", table_header());
  for (const FaultRow& row : chosen) {
    const fs::path own = folder / row.id;
    const Outcome outcome = run_in_process(row, options, own, folder / "shared");
    const std::string line = table_row(row, outcome);
    fmt::print("{}\n", line);
    for (const std::string& problem : outcome.problems) fmt::print("  - {}\n", problem);
    std::fflush(stdout);
    if (!options.table.empty()) put_row(options.table, line);
    failed += outcome.problems.empty() ? 0 : 1;
    if (outcome.problems.empty() && options.keep.empty()) fs::remove_all(own);
  }
  fmt::print("{} of {} rows passed\n", chosen.size() - failed, chosen.size());
  if (failed > 0) fmt::print("what the failed ones left is in {}\n", folder.string());
  if (failed == 0 && options.keep.empty()) fs::remove_all(folder);
  return failed == 0 ? 0 : 1;
}

int list_rows() {
  for (const FaultRow& row : rows::catalog()) fmt::print("{:28} {}{}\n", row.id, row.fault, row.is_brief ? " (brief)" : "");
  return 0;
}

int run(int count, char** words) {
  Options options;
  CLI::App app("Does to trainings what happens to them in practice, and says what came of it.", "trireme_faults");
  app.add_option("rows", options.rows, "F1 (all of that number) or F1.random");
  app.add_flag("--all", options.all, "every row");
  app.add_flag("--brief", options.brief, "the short form, a few minutes");
  app.add_flag("--list", options.list, "what rows there are");
  app.add_option("--soak", options.soak, "a training of about so many minutes with a random fault every 15 s")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "of the soak's faults; 0: a random one");
  app.add_option("--table", options.table, "put the rows into this Markdown file, too");
  app.add_option("--keep", options.keep, "work in this folder and leave everything there");
  app.add_option("--one", options.one)->group("");
  app.add_option("--folder", options.folder)->group("");
  app.add_option("--shared", options.shared)->group("");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  if (options.list) return list_rows();
  return options.one.empty() ? run_rows(options) : run_one(options);
}

}  // namespace
}  // namespace trireme::tests

int main(int count, char** words) {
  try {
    return trireme::tests::run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trireme_faults: error: %s\n", error.what());
    return 2;
  }
}
