// SPDX-License-Identifier: Apache-2.0
// fetch: gets public data sets onto this machine, or lists them.
#include "trireme/fetch/fetch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "trireme/base/catalog_lookup.h"
#include "trireme/base/clock.h"
#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/cli/application.h"
#include "trireme/cli/command_entry.h"
#include "trireme/run/setup/data_directory.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/run/terminal/fetch_progress.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::vector<std::string> names;
  std::string directory;
  std::string from;
  bool force = false;
  bool json = false;
};

void print_table(const std::filesystem::path& directory, std::ostream& out) {
  TextTable table({{"set"}, {"here"}, {"size", TextTable::Align::right}, {"what it is"}});
  for (const fetch::SetEntry& entry : fetch::sets::catalog())
    table.add_row({std::string(entry.name), fetch::is_here(entry, directory) ? "yes" : "no",
                   human_bytes(static_cast<double>(entry.bytes())), std::string(entry.summary)});
  out << table.to_string() << fmt::format("\nSets are kept in {}; get one with 'trireme fetch NAME'.\n", directory.string());
}

Json to_json(const std::vector<fetch::SetFile>& files) {
  Json list = Json::array();
  for (const fetch::SetFile& file : files) list.push_back({{"name", file.name}, {"bytes", file.bytes}});
  return list;
}

void print_json(const std::filesystem::path& directory, std::ostream& out) {
  Json sets = Json::array();
  for (const fetch::SetEntry& entry : fetch::sets::catalog())
    sets.push_back({{"name", entry.name},
                    {"summary", entry.summary},
                    {"here", fetch::is_here(entry, directory)},
                    {"folder", (directory / entry.name).string()},
                    {"bytes", entry.bytes()},
                    {"reader", entry.reader},
                    {"train", to_json(entry.train)},
                    {"test", to_json(entry.test)},
                    {"class_names", entry.class_names}});
  out << Json{{"directory", directory.string()}, {"sets", std::move(sets)}}.dump(2) << "\n";
}

void fetch_one(const fetch::SetEntry& entry, const Options& o, const run::Console& console) {
  const std::filesystem::path directory = run::data_directory(o.directory);
  const SteadyClock clock;
  const Seconds start = clock.now();
  run::FetchProgress progress(console.err, clock, {.terminal = run::rewrites_lines(STDERR_FILENO)});
  const bool here = !o.force && fetch::is_here(entry, directory);
  fetch::fetch_set(entry, directory, progress, {.force = o.force, .from = o.from});
  const std::string how = here ? "was here already" : fmt::format("fetched in {:.1f} s", (clock.now() - start).count());
  console.out << fmt::format("{}  {}, {} files, {}, in {}\n", entry.name, how, entry.files().size(),
                             human_bytes(static_cast<double>(entry.bytes())), (directory / entry.name).string())
              << std::flush;
}

// A set that cannot be had does not keep the others away.
int fetch_all(const Options& o, const run::Console& console) {
  std::vector<const fetch::SetEntry*> entries;
  for (const std::string& name : o.names) entries.push_back(&find_entry(fetch::sets::catalog(), name, "set"));
  int code = run::exit_ok;
  for (const fetch::SetEntry* entry : entries) {
    try {
      fetch_one(*entry, o, console);
    } catch (const Error& error) {  // one of several: the others are fetched all the same
      if (entries.size() == 1) throw;
      console.err << "trireme: error: " << error.what() << "\n";
      code = run::exit_code_of(error.code());
    }
  }
  return code;
}

int run(const Options& o, const run::Console& console) {
  if (!o.names.empty()) return fetch_all(o, console);
  if (!o.from.empty() || o.force) throw Error{invalid_argument, "say which set to fetch; 'trireme fetch' alone lists them"};
  if (o.json)
    print_json(run::data_directory(o.directory), console.out);
  else
    print_table(run::data_directory(o.directory), console.out);
  return run::exit_ok;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("name", options->names, "sets to fetch; without any, the sets are listed").shown_as("SET");
  arguments.option("--directory", options->directory, "where sets are kept, instead of the cache directory").shown_as("DIR");
  arguments.option("--from", options->from, "take the files, plain or .gz, from this folder or address").shown_as("DIR|URL");
  arguments.flag("--force", options->force, "fetch again what is here");
  arguments.flag("--json", options->json, "list as JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry fetch() {
  return {.name = "fetch", .summary = "get public data sets onto this machine, or list them", .declare = declare, .goes_on_unread = true};
}

}  // namespace trireme::cli::commands
