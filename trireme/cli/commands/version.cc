// SPDX-License-Identifier: Apache-2.0
// version: this program in detail, for reports of faults and for packages.
#include <memory>

#include "trireme/cli/command_entry.h"
#include "trireme/cli/version_facts.h"
#include "trireme/cluster/launch/shared_libraries.h"
#include "trireme/run/setup/own_process.h"

namespace trireme::cli::commands {
namespace {

struct Options {
  bool json = false;
  bool shared_libraries = false;
};

int run(const Options& o, const run::Console& console) {
  if (o.shared_libraries) {
    for (const auto& [name, file] : cluster::shippable(cluster::libraries_of(run::own_program())))
      console.out << name << "\t" << file.string() << "\n";
    return 0;
  }
  const VersionFacts facts = version_facts();
  if (o.json)
    console.out << to_json(facts).dump(2) << "\n";
  else
    console.out << to_text(facts);
  return 0;
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.flag("--json", options->json, "print JSON");
  arguments
      .flag("--shared-libraries", options->shared_libraries,
            "print the shared libraries that another machine may lack, a name and a file per line, instead")
      .excludes("--json");
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry version() {
  return {
      .name = "version", .summary = "show version, commit, libraries, instruction set and features of this program", .declare = declare};
}

}  // namespace trireme::cli::commands
