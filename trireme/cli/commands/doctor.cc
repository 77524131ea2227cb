// SPDX-License-Identifier: Apache-2.0
// doctor: examines every machine of a cluster and every way between them, and says what is wrong and how to mend it.
#include "trireme/cluster/doctor/doctor.h"

#include <fmt/format.h>

#include <memory>

#include "trireme/base/json.h"
#include "trireme/base/table.h"
#include "trireme/cli/application.h"
#include "trireme/cli/selection_flags.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/run/terminal/exit_code.h"

namespace trireme::cli::commands {
namespace {

using cluster::Examination;
using cluster::Findings;
using cluster::kHere;
using cluster::LinkCheck;
using cluster::MachineCheck;

constexpr auto kRight = TextTable::Align::right;

struct Options {
  SelectionFlags machines;
  std::int64_t connect_timeout = 10;
  bool json = false;
};

std::string clock_text(const MachineCheck& check) {
  return fmt::format("{:+.1f} ± {:.1f} ms", check.clock_ahead * 1e3, check.clock_uncertainty * 1e3);
}

void print_machines(const Examination& examination, std::ostream& out) {
  TextTable table({{"machine"},
                   {"address"},
                   {"state"},
                   {"cores", kRight},
                   {"memory", kRight},
                   {"free", kRight},
                   {"disk free", kRight},
                   {"vectors"},
                   {"clock", kRight},
                   {"load", kRight},
                   {"CPU"}});
  const auto human = [](std::int64_t bytes) { return human_bytes(static_cast<double>(bytes)); };
  for (const MachineCheck& check : examination.machines) {
    const std::string state = check.error.empty() ? "ok" : "not usable";
    if (!check.facts) {
      table.add_row({check.machine.name, check.machine.address, state, "", "", "", "", "", "", "", ""});
      continue;
    }
    const cluster::MachineFacts& facts = *check.facts;
    table.add_row({check.machine.name, check.machine.address, state, fmt::format("{}", facts.cores), human(facts.memory),
                   human(facts.free_memory), human(facts.free_disk), facts.vector_extensions, clock_text(check),
                   fmt::format("{:.1f}", facts.load), facts.cpu});
  }
  out << table.to_string();
}

std::string link_text(const Examination& examination, std::size_t from, std::size_t to) {
  for (const LinkCheck& link : examination.links) {
    if (link.from != from || link.to != to) continue;
    if (!link.result.fault.empty()) return link.result.fault;
    return fmt::format("{:.0f} ({:.2f})", link.result.bits_per_second / 1e6, link.result.round_trip * 1e3);
  }
  return "";
}

void print_links(const Examination& examination, std::ostream& out) {
  if (examination.links.empty()) return;
  std::vector<TextTable::Column> columns{{"Mbit/s (round trip, ms) from"}};
  for (const MachineCheck& check : examination.machines) columns.push_back({"to " + check.machine.name, kRight});
  columns.push_back({"to this machine", kRight});
  TextTable table(columns);
  for (std::size_t from = 0; from < examination.machines.size(); ++from) {
    std::vector<std::string> row{examination.machines[from].machine.name};
    for (std::size_t to = 0; to < examination.machines.size(); ++to) row.push_back(link_text(examination, from, to));
    row.push_back(link_text(examination, from, kHere));
    table.add_row(row);
  }
  out << "\n" << table.to_string();
}

void print_findings(const Findings& findings, std::size_t machines, std::ostream& out) {
  out << "\n";
  for (const std::string& problem : findings.problems) out << "problem: " << problem << "\n";
  for (const std::string& note : findings.notes) out << "note: " << note << "\n";
  if (findings.problems.empty())
    out << fmt::format("{} machine{} ready.\n", machines, machines == 1 ? " is" : "s are");
  else
    out << fmt::format("{} problem{} to mend.\n", findings.problems.size(), findings.problems.size() == 1 ? "" : "s");
}

Json to_json(const MachineCheck& check) {
  Json json = {{"name", check.machine.name}, {"address", check.machine.address}, {"usable", check.error.empty()}, {"error", check.error}};
  if (!check.facts) return json;
  json["clock_ahead"] = check.clock_ahead;
  json["clock_uncertainty"] = check.clock_uncertainty;
  json["facts"] = parse_json(cluster::to_json(*check.facts));
  return json;
}

void print_json(const Examination& examination, const Findings& findings, std::ostream& out) {
  Json machines = Json::array();
  for (const MachineCheck& check : examination.machines) machines.push_back(to_json(check));
  Json links = Json::array();
  for (const LinkCheck& link : examination.links)
    links.push_back({{"from", name_of_place(examination, link.from)},
                     {"to", name_of_place(examination, link.to)},
                     {"to_address", link.to_address},
                     {"fault", link.result.fault},
                     {"bits_per_second", link.result.bits_per_second},
                     {"round_trip", link.result.round_trip}});
  const Json document = {
      {"machines", std::move(machines)}, {"links", std::move(links)}, {"problems", findings.problems}, {"notes", findings.notes}};
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

int run(const Options& o, const run::Console& console) {
  const cluster::Inventory inventory = selected_inventory(o.machines, console);
  cluster::LaunchOptions options;
  options.binary = run::own_program();
  options.ssh = inventory.ssh;
  options.connect_timeout = o.connect_timeout;
  const Examination examination =
      cluster::examine(inventory.machines, options, [&](std::string_view event) { console.err << event << std::endl; });
  const Findings findings = cluster::judge(examination);
  if (o.json) {
    print_json(examination, findings, console.out);
  } else {
    print_machines(examination, console.out);
    print_links(examination, console.out);
    print_findings(findings, inventory.machines.size(), console.out);
  }
  return findings.problems.empty() ? run::exit_ok : run::exit_preflight;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  add_selection_flags(arguments, options->machines, ClusterArgument::flag);
  arguments.option("--connect-timeout", options->connect_timeout, "seconds until a machine counts as unreachable")
      .shows_default()
      .shown_as("N")
      .between(1, 600);
  arguments.flag("--json", options->json, "print JSON");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry doctor() {
  return {.name = "doctor", .summary = "examine the machines of a cluster and the network between them", .declare = declare};
}

}  // namespace trireme::cli::commands
