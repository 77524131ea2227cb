// SPDX-License-Identifier: Apache-2.0
// trireme_faults: runs rows of the fault table, each in a process of its own with a limit, and prints the table.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "tests/faults/fault_table.h"
#include "tests/faults/scene.h"
#include "tests/faults/soak.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/process.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> rows;
  bool all = false;
  bool brief = false;
  bool list = false;
  std::string table;     // a Markdown file to put the rows into
  std::string keep;      // folder to work in, and to leave there
  int repeat = 1;        // times each row
  double soak = 0;       // minutes
  int seeds = 0;         // of rows that draw lots
  double minutes = 1e9;  // after which no other seed is begun
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

// Those that draw lots, of all rows or of those named.
Rows random_rows(Options options) {
  options.all |= options.rows.empty();
  Rows chosen = chosen_rows(options);
  std::erase_if(chosen, [](const FaultRow& row) { return !row.is_random; });
  if (chosen.empty()) throw Error{not_found, "none of these rows draws lots; see --list"};
  return chosen;
}

std::uint32_t seed_or_random(const Options& options) { return options.seed != 0 ? options.seed : std::random_device{}(); }

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
    Scene scene(options.folder, options.shared, options.seed);
    outcome = row.run(scene);
  } catch (const std::exception& error) {
    outcome.problems.emplace_back(error.what());
  }
  write_file_atomically(outcome_file(options.folder), outcome_text(outcome));
  return 0;
}

struct Place {
  fs::path folder;  // the row's own
  fs::path shared;
};

std::vector<std::string> command_of(const FaultRow& row, const Options& options, std::uint32_t seed, const Place& place) {
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(),
                                 "--one",
                                 row.id,
                                 "--folder",
                                 place.folder.string(),
                                 "--shared",
                                 place.shared.string(),
                                 "--seed",
                                 fmt::format("{}", seed)};
  if (row.id == "F32.soak") words.insert(words.end(), {"--soak", fmt::format("{}", options.soak)});
  return words;
}

Outcome run_in_process(const FaultRow& row, const Options& options, std::uint32_t seed, const Place& place) {
  fs::remove_all(place.folder);
  make_directories(place.folder);
  Process process({.argv = command_of(row, options, seed, place),
                   .on_line = [](Stream, std::string_view line) { fmt::print(stderr, "  {}\n", line); },
                   .on_exit = {}});
  const auto status = process.wait_for(row.limit);
  if (!status) return failure(fmt::format("I8 harness: the row had not ended after {} s", row.limit.count()));
  if (!status->is_success() || !fs::exists(outcome_file(place.folder))) return failure("the harness itself " + status->in_words());
  Outcome outcome = parse_outcome(read_file(outcome_file(place.folder)));
  if (row.is_random)
    for (std::string& problem : outcome.problems) problem = fmt::format("seed {}: {}", seed, problem);
  return outcome;
}

// Where rows work; what failed ones leave stays there.
class Workplace {
 public:
  explicit Workplace(const Options& options)
      : folder_(options.keep.empty() ? fs::temp_directory_path() / fmt::format("trireme-faults-{}", ::getpid()) : fs::path(options.keep)),
        is_kept_(!options.keep.empty()) {}
  ~Workplace() {
    std::error_code ignored;
    if (failed_ > 0) fmt::print("what the failed ones left is in {}\n", folder_.string());
    if (failed_ == 0 && !is_kept_) fs::remove_all(folder_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  Place place(const FaultRow& row) const { return {.folder = folder_ / row.id, .shared = folder_ / "shared"}; }
  std::size_t failed() const { return failed_; }
  // Prints what came of a row.
  void note(const FaultRow& row, const Outcome& outcome, const std::string& table) {
    const std::string line = table_row(row, outcome);
    fmt::print("{}\n", line);
    for (const std::string& problem : outcome.problems) fmt::print("  - {}\n", problem);
    std::fflush(stdout);
    if (!table.empty()) put_row(table, line);
    failed_ += outcome.problems.empty() ? 0 : 1;
    if (outcome.problems.empty() && !is_kept_) fs::remove_all(folder_ / row.id);
  }

 private:
  fs::path folder_;
  bool is_kept_;
  std::size_t failed_ = 0;
};

int run_rows(const Options& options) {
  Workplace workplace(options);
  const Rows chosen = chosen_rows(options);
  fmt::print("{}", table_header());
  for (const FaultRow& row : chosen) {
    std::vector<Outcome> outcomes;
    // A row that has failed is looked at, not run again.
    while (static_cast<int>(outcomes.size()) < options.repeat && (outcomes.empty() || outcomes.back().problems.empty()))
      outcomes.push_back(run_in_process(row, options, seed_or_random(options), workplace.place(row)));
    workplace.note(row, worst_of(outcomes), options.table);
  }
  fmt::print("{} of {} rows passed\n", chosen.size() - workplace.failed(), chosen.size());
  return workplace.failed() == 0 ? 0 : 1;
}

// One seed after another, each for all rows that draw lots, until one fails.
int run_seeds(const Options& options) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::ratio<60>>(options.minutes);
  Workplace workplace(options);
  const Rows chosen = random_rows(options);
  const std::uint32_t first = options.seed == 0 ? 1 : options.seed;
  std::map<std::string, std::vector<Outcome>> outcomes;
  fmt::print("{}", table_header());
  for (std::uint32_t seed = first; seed < first + static_cast<std::uint32_t>(options.seeds); ++seed) {
    for (const FaultRow& row : chosen) {
      if (workplace.failed() > 0 || std::chrono::steady_clock::now() > end) break;
      outcomes[row.id].push_back(run_in_process(row, options, seed, workplace.place(row)));
      workplace.note(row, outcomes[row.id].back(), {});
    }
  }
  for (const FaultRow& row : chosen) {
    if (outcomes[row.id].empty()) continue;
    const Outcome worst = worst_of(outcomes[row.id]);
    fmt::print("{}: {} of {} seeds, from {} on\n{}\n", row.id, outcomes[row.id].size(), options.seeds, first, table_row(row, worst));
    if (!options.table.empty()) put_row(options.table, table_row(row, worst));
  }
  return workplace.failed() == 0 ? 0 : 1;
}

int list_rows() {
  for (const FaultRow& row : rows::catalog())
    fmt::print("{:28} {}{}\n", row.id, row.fault, row.is_brief ? " (brief)" : row.is_random ? " (random)" : "");
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
  app.add_option("--repeat", options.repeat, "each row so many times; the worst figures count")->check(CLI::PositiveNumber);
  app.add_option("--seeds", options.seeds, "rows that draw lots, with so many seeds one after another, until one fails")
      ->check(CLI::PositiveNumber);
  app.add_option("--minutes", options.minutes, "with --seeds: no other is begun after that time")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "of rows that draw lots (with --seeds the first); 0: a random one");
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
  if (!options.one.empty()) return run_one(options);
  return options.seeds > 0 ? run_seeds(options) : run_rows(options);
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
