// SPDX-License-Identifier: Apache-2.0
// From a set's name to its files.
#include "trireme/run/setup/data_lookup.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include "trireme/base/clock.h"
#include "trireme/fetch/fetch.h"
#include "trireme/run/setup/data_directory.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/fetch_progress.h"

namespace trireme::run {
namespace {

std::string toml_list(const auto& items) {
  std::vector<std::string> quoted;
  for (const auto& item : items) quoted.push_back(toml_quoted(std::string(item)));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

}  // namespace

const fetch::SetEntry* public_set(const Config& job) {
  const Config* data = job.find("data");
  const Config* name = data == nullptr || !data->is_table() ? nullptr : data->find("name");
  return name == nullptr ? nullptr : fetch::find_set(name->text());
}

void name_files(Config& job, const fetch::SetEntry& set, const std::filesystem::path& directory) {
  const fetch::SetPaths paths = fetch::set_files(set, directory);
  const std::string origin = fmt::format("{} = {}", kFromSetName, set.name);
  job.set("data.reader", toml_quoted(set.reader), origin);
  job.set("data.train", toml_list(paths.train), origin);
  job.set("data.test", toml_list(paths.test), origin);
  if (!set.class_names.empty() && job.at("data").find("class_names") == nullptr)
    job.set("data.class_names", toml_list(set.class_names), origin);
}

void resolve_data(Config& job, const Console& console) {
  const fetch::SetEntry* set = public_set(job);
  if (set == nullptr) return;
  const std::filesystem::path directory = data_directory();
  if (!fetch::is_here(*set, directory)) {
    console.err << fmt::format("{} is not here yet; fetching it\n", set->name);
    const SteadyClock clock;
    FetchProgress progress(console.err, clock, {.terminal = rewrites_lines(STDERR_FILENO)});
    fetch::fetch_set(*set, directory, progress);
  }
  name_files(job, *set, directory);
}

}  // namespace trireme::run
