// SPDX-License-Identifier: Apache-2.0
// data: what a job's data set holds, and what each of several workers would get of it.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/cli/command_entry.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/data/source/sharding.h"
#include "trireme/run/setup/cache_directory.h"
#include "trireme/run/setup/data_lookup.h"
#include "trireme/run/setup/job_file.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  std::string job;
  std::vector<std::string> settings;
  std::int64_t workers = 0;
  std::string sharding;
  data::DistributionOptions distribution;
  bool json = false;
};

// Some samples of a set, as a row of the table.
struct Group {
  std::string name;
  std::shared_ptr<const data::Source> source;
  std::vector<std::int64_t> indices;

  std::int64_t size() const { return static_cast<std::int64_t>(indices.size()); }
  std::vector<std::int64_t> by_class() const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(source->format().classes));
    for (const std::int64_t index : indices) {
      if (!counts.empty()) ++counts.at(static_cast<std::size_t>(source->label(index)));
    }
    return counts;
  }
};

data::DataSets open(const Options& o, const run::Console& console) {
  Config config = run::load_job(o.job, o.settings);
  run::resolve_data(config, console);
  const Config* table = config.find("data");
  if (table == nullptr) throw Error{invalid_argument, "{}: the table [data] is missing", o.job};
  return data::open_data(data::data_request(*table), run::cache_directory());
}

std::vector<std::int64_t> all_of(const data::Source& source) { return data::shard(source, data::Sharding::off, {}); }

std::vector<Group> parts_of(const data::DataSets& sets) {
  std::vector<Group> groups;
  for (const auto& [name, source] : {std::pair{"train", sets.train}, {"validation", sets.validation}, {"test", sets.test}}) {
    if (source != nullptr) groups.push_back({name, source, all_of(*source)});
  }
  return groups;
}

data::Sharding policy_named(const std::string& name) {
  static const std::map<std::string, data::Sharding> kPolicies{
      {"off", data::Sharding::off}, {"data", data::Sharding::data}, {"file", data::Sharding::file}, {"auto", data::Sharding::automatic}};
  return kPolicies.at(name);
}

std::vector<Group> workers_of(const Options& o, const std::shared_ptr<const data::Source>& train) {
  std::vector<Group> groups;
  const auto distributed =
      o.sharding.empty() ? data::distribute(*train, o.workers, o.distribution) : std::vector<std::vector<std::int64_t>>{};
  for (std::int64_t rank = 0; rank < o.workers; ++rank)
    groups.push_back({fmt::format("worker {}", rank), train,
                      o.sharding.empty() ? distributed[static_cast<std::size_t>(rank)]
                                         : data::shard(*train, policy_named(o.sharding), {.rank = rank, .count = o.workers})});
  return groups;
}

void print_table(const std::vector<Group>& groups, const std::vector<std::string>& class_names, std::ostream& out) {
  const std::int64_t classes = groups.front().source->format().classes;
  constexpr std::int64_t kMaxColumns = 20;
  std::vector<TextTable::Column> columns{{"part"}, {"samples", TextTable::Align::right}};
  for (std::int64_t i = 0; i < classes && classes <= kMaxColumns; ++i)
    columns.push_back({class_names.empty() ? std::to_string(i) : class_names[static_cast<std::size_t>(i)], TextTable::Align::right});
  const bool counted = columns.size() > 2;
  TextTable table(std::move(columns));
  for (const Group& group : groups) {
    std::vector<std::string> row{group.name, with_thousands(group.size())};
    for (const std::int64_t count : counted ? group.by_class() : std::vector<std::int64_t>{}) row.push_back(with_thousands(count));
    table.add_row(row);
  }
  out << table.to_string();
}

Json to_json(const std::vector<Group>& groups) {
  Json list = Json::array();
  for (const Group& group : groups) list.push_back({{"part", group.name}, {"samples", group.size()}, {"by_class", group.by_class()}});
  return list;
}

int run(const Options& o, const run::Console& console) {
  const data::DataSets sets = open(o, console);
  const data::SampleFormat& format = sets.train->format();
  const std::vector<Group> groups = o.workers > 0 ? workers_of(o, sets.train) : parts_of(sets);
  for (const std::string& warning : sets.warnings) console.err << "trireme: warning: " << warning << "\n";
  if (o.json) {
    console.out << Json{{"shape", std::vector<std::int64_t>(format.shape.begin(), format.shape.end())},
                        {"classes", format.classes},
                        {"targets", format.targets},
                        {"files", sets.train->file_starts().size()},
                        {"parts", to_json(groups)}}
                       .dump(2)
                << "\n";
    return 0;
  }
  console.out << fmt::format("a sample is {} ({}), {}\n\n", format.shape.to_string(),
                             format.element == data::Element::u8 ? "bytes" : "floats",
                             format.classes > 0 ? fmt::format("{} classes", format.classes) : fmt::format("{} targets", format.targets));
  print_table(groups, sets.class_names, console.out);
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  data::DistributionOptions& distribution = options->distribution;
  arguments.option("job", options->job, "a job file; only its [data] is looked at").required().shown_as("job.toml");
  arguments.option("--set", options->settings, "change a setting, e.g. data.validation=0.1").shown_as("TABLE.KEY=VALUE").one_at_a_time();
  arguments.option("--workers", options->workers, "show what each of so many workers would get").between(1, 1 << 16);
  arguments.option("--sharding", options->sharding, "by TensorFlow's policy: off, data, file or auto")
      .one_of({"off", "data", "file", "auto"})
      .needs("--workers");
  arguments.option("--distribution", distribution.kind, "or distributed for experiments: shuffled, contiguous or by_class")
      .one_of({"shuffled", "contiguous", "by_class"})
      .needs("--workers")
      .excludes("--sharding");
  arguments.option("--degree", distribution.degree, "of by_class: the share dealt out by class").between(0.0, 1.0);
  arguments.option("--shares", distribution.shares, "relative sizes of the workers' parts, e.g. 4,2,1").separated_by(',');
  arguments.option("--overlap", distribution.overlap, "share of a worker's samples that the next one gets too").between(0.0, 1.0);
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry data() {
  return {.name = "data", .summary = "show what a job's data set holds, and how workers would share it", .declare = declare};
}

}  // namespace trireme::cli::commands
