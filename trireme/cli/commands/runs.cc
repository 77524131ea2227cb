// SPDX-License-Identifier: Apache-2.0
// runs: what was trained, with which outcome; notes on runs, and their end.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/file_lock.h"
#include "trireme/base/table.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/run_list.h"
#include "trireme/cli/runs_cache.h"
#include "trireme/report/folder/run_filter.h"
#include "trireme/report/folder/run_folder.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/train/checkpoint/run_directory.h"

namespace trireme::cli::commands {
namespace {

struct ListOptions {
  std::string folder = "runs";
  report::RunFilter filter;
  std::string since;
  std::string sort = "when";
  bool reverse = false;
  std::int64_t limit = 0;
  bool json = false;
};

double seconds_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::vector<report::RunEntry> chosen_runs(const ListOptions& o, report::RunFolder& folder) {
  report::RunFilter filter = o.filter;
  if (!o.since.empty()) filter.since = report::parse_since(o.since, seconds_now());
  std::vector<report::RunEntry> entries = folder.look();
  folder.save();
  std::erase_if(entries, [&](const report::RunEntry& entry) { return !passes(filter, entry); });
  if (o.sort != "when") sort_runs(entries, report::run_order(o.sort));
  if (o.reverse) std::ranges::reverse(entries);
  if (o.limit > 0 && entries.size() > static_cast<std::size_t>(o.limit)) entries.resize(static_cast<std::size_t>(o.limit));
  return entries;
}

int list(const ListOptions& o, const run::Console& console) {
  report::RunFolder folder(o.folder, runs_cache_file());
  const std::vector<report::RunEntry> entries = chosen_runs(o, folder);
  if (o.json)
    console.out << report::to_json(folder.path(), entries, report::Curves::without) << "\n";
  else if (!entries.empty())
    console.out << table_of(entries, run::terminal_columns(STDOUT_FILENO));
  else
    console.err << (folder.look().empty() ? fmt::format("there is no run in {}\n", o.folder)
                                          : fmt::format("no run in {} matches\n", o.folder));
  return 0;
}

Run declare_list(Arguments& arguments) {
  const auto options = std::make_shared<ListOptions>();
  arguments.option("folder", options->folder, "where the runs are").shown_as("FOLDER").shows_default();
  arguments.option("--model", options->filter.model, "only of models with this in their name").shown_as("TEXT");
  arguments.option("--outcome", options->filter.outcome, "only with this outcome")
      .one_of({"running", "finished", "stopped", "failed", "killed"});
  arguments
      .option("--since", options->since, "only begun since a date, 2026-11-17 or \"2026-11-17 08:30\", or for so long: 90m, 12h, 3d, 2w")
      .shown_as("WHEN");
  arguments.option("--find", options->filter.text, "only with all of these words in name, job, model, data, strategy, machine or note")
      .shown_as("WORDS");
  arguments.option("--sort", options->sort, "when: newest first; accuracy, best: best first")
      .one_of({"when", "name", "model", "data", "outcome", "epochs", "loss", "accuracy", "best", "time", "speed"})
      .shows_default();
  arguments.flag("--reverse", options->reverse, "the other way round");
  arguments.option("--limit", options->limit, "at most so many").between(1, 1 << 30);
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return list(*options, console); };
}

std::filesystem::path run_at(const std::string& path) {
  std::error_code error;
  std::filesystem::path run = std::filesystem::canonical(path, error);
  if (error) throw Error{not_found, "there is no run {}: {}", path, error.message()};
  if (!report::is_run(run)) throw Error{not_found, "{} is no run: it has neither journal.jsonl nor config.toml", path};
  return run;
}

struct NoteOptions {
  std::string run;
  std::string text;
};

int note(const NoteOptions& o, const run::Console& console) {
  const std::filesystem::path run = run_at(o.run);
  report::write_note(run, o.text);
  const std::string written = report::note_of(run);
  console.out << fmt::format("{}: {}\n", run.filename().string(), written.empty() ? "no note" : written);
  return 0;
}

Run declare_note(Arguments arguments) {
  const auto options = std::make_shared<NoteOptions>();
  arguments.option("run", options->run, "the run's directory, e.g. runs/latest").required().shown_as("RUN");
  arguments.option("text", options->text, "replaces the note; \"\" removes it").required().shown_as("TEXT");
  return [options](const run::Console& console) { return note(*options, console); };
}

struct DeleteOptions {
  std::vector<std::string> runs;
  bool yes = false;
};

struct Doomed {
  std::filesystem::path path;
  double bytes = 0;
};

double bytes_in(const std::filesystem::path& directory) {
  double bytes = 0;
  std::error_code error;
  for (auto entry = std::filesystem::recursive_directory_iterator(directory, error);
       !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code fault;
    if (!entry->is_regular_file(fault) || entry->is_symlink(fault)) continue;
    const std::uintmax_t size = entry->file_size(fault);
    if (!fault) bytes += static_cast<double>(size);
  }
  return bytes;
}

// Each once; if one of them can't be deleted none is.
std::vector<Doomed> doomed_runs(const std::vector<std::string>& paths) {
  std::vector<Doomed> doomed;
  for (const std::string& path : paths) {
    const std::filesystem::path run = run_at(path);
    if (is_locked(run / "lock")) throw Error{failed_precondition, "{} is being trained; nothing is deleted. Stop it first", run.string()};
    if (std::ranges::find(doomed, run, &Doomed::path) == doomed.end()) doomed.push_back({.path = run, .bytes = bytes_in(run)});
  }
  return doomed;
}

bool is_agreed(std::size_t runs, double bytes, const run::Console& console) {
  if (::isatty(STDIN_FILENO) == 0)
    throw Error{failed_precondition, "there is no terminal on which to ask; nothing is deleted. With --yes it is not asked"};
  console.out << fmt::format("delete {} {}, {}? [y/N] ", runs, runs == 1 ? "run" : "runs", human_bytes(bytes)) << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// If `latest` went with it, the newest of those beside it takes its place.
void delete_run(const std::filesystem::path& run) {
  const std::filesystem::path folder = run.parent_path();
  std::error_code error;
  const bool is_latest = std::filesystem::equivalent(folder / "latest", run, error) && !error;
  train::RunDirectory::remove(run);
  if (!is_latest) return;
  for (const report::RunEntry& left : report::RunFolder(folder, runs_cache_file()).look()) {
    if (std::filesystem::path(left.directory).parent_path() != folder) continue;
    train::RunDirectory::link_latest(left.directory);
    return;
  }
}

int delete_runs(const DeleteOptions& o, const run::Console& console) {
  const std::vector<Doomed> doomed = doomed_runs(o.runs);
  double bytes = 0;
  for (const Doomed& run : doomed) {
    console.out << fmt::format("{}  {}\n", run.path.string(), human_bytes(run.bytes));
    bytes += run.bytes;
  }
  if (!o.yes && !is_agreed(doomed.size(), bytes, console)) {
    console.out << "nothing is deleted\n";
    return 1;
  }
  for (const Doomed& run : doomed) delete_run(run.path);
  console.out << fmt::format("deleted {} {}; {} are free again\n", doomed.size(), doomed.size() == 1 ? "run" : "runs", human_bytes(bytes));
  return 0;
}

Run declare_delete(Arguments arguments) {
  const auto options = std::make_shared<DeleteOptions>();
  arguments.option("run", options->runs, "directories of runs").required().shown_as("RUN");
  arguments.flag("--yes", options->yes, "don't ask");
  return [options](const run::Console& console) { return delete_runs(*options, console); };
}

Run declare(Arguments& arguments) {
  const Run run_list = declare_list(arguments);
  const Arguments note = arguments.optional_subcommand("note", "write a note that the list shows");
  const Arguments removal = arguments.optional_subcommand("delete", "delete runs with their checkpoints; asks first");
  const Run run_note = declare_note(note);
  const Run run_delete = declare_delete(removal);
  return [=](const run::Console& console) {
    if (note.is_given()) return run_note(console);
    return removal.is_given() ? run_delete(console) : run_list(console);
  };
}

}  // namespace

CommandEntry runs() {
  return {.name = "runs", .summary = "list what was trained, with outcomes and notes; delete runs", .declare = declare};
}

}  // namespace trireme::cli::commands
