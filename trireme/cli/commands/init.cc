// SPDX-License-Identifier: Apache-2.0
// init: looks at a folder or file of data and writes a job file that trains on it.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/cli/command_entry.h"
#include "trireme/inspect/first_job.h"
#include "trireme/run/setup/algorithm_memory.h"

namespace trireme::cli::commands {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string path;
  std::string out = "job.toml";
  std::string label;
  double minutes = 10;
  bool force = false;
};

void check_target(const Options& o) {
  std::error_code fault;
  if (fs::is_directory(o.out, fault)) throw Error{invalid_argument, "-o {}: this is a folder; name a file, e.g. {}/job.toml", o.out, o.out};
  if (!o.force && fs::exists(o.out, fault))
    throw Error{already_exists, "{} is there already; -o takes another name, --force writes over it", o.out};
}

int run(const Options& o, const run::Console& console) {
  const bool prints = o.out == "-";
  if (!prints) check_target(o);
  const fs::path base = prints ? fs::current_path() : fs::absolute(o.out).lexically_normal().parent_path();
  const inspect::FirstJob job = inspect::first_job({.path = o.path,
                                                    .wishes = {.label = o.label},
                                                    .base = base,
                                                    .engine = {.algorithm_cache = run::algorithm_cache()},
                                                    .minutes = o.minutes});
  (prints ? console.err : console.out) << job.report;
  if (prints) {
    console.out << job.text;
    return 0;
  }
  write_file_atomically(o.out, job.text);
  console.out << fmt::format("{} is written; train it with: trireme train {}\n", o.out, o.out);
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("path", options->path, "a folder of pictures by class, a table, spectra, or another data set")
      .required()
      .shown_as("PATH");
  arguments.option("-o,--out", options->out, "where the job file goes; - prints it").shown_as("FILE").shows_default();
  arguments.option("--label", options->label, "of a table: the column to predict; otherwise found by its name").shown_as("COLUMN");
  arguments.option("--minutes", options->minutes, "that the training may take on this machine").between(0.1, 100000.0).shows_default();
  arguments.flag("--force", options->force, "write over a file that is there");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry init() {
  return {.name = "init", .summary = "look at your data and write a job file that trains on them", .declare = declare};
}

}  // namespace trireme::cli::commands
