// SPDX-License-Identifier: Apache-2.0
// Collects the facts, and writes them for people and for programs.
#include "trireme/cli/version_facts.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <filesystem>

#include "trireme/base/version.h"
#include "trireme/comm/libraries.h"
#include "trireme/comm/mpi_library.h"
#include "trireme/data/formats/libraries.h"
#include "trireme/engine/kernels/cpu.h"
#include "trireme/engine/libraries.h"
#include "trireme/fetch/libraries.h"
#include "trireme/rpc/libraries.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/web/page.h"

namespace trireme::cli {
namespace {

std::string compiler() {
#ifdef __clang__
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string this_system() {
  utsname names{};
  ::uname(&names);
  return fmt::format("{} {}", names.sysname, names.machine);
}

std::vector<LibraryVersion> all_libraries() {
  std::vector<LibraryVersion> all;
  for (const auto& list : {engine::libraries(), rpc::libraries(), data::libraries(), comm::libraries(), fetch::libraries(), libraries()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

Feature mpi() {
  const std::filesystem::path file = comm::MpiLibrary::file_of(run::own_program());
  const bool is_there = std::filesystem::exists(file);
  return {"mpi", is_there, is_there ? file.string() : "for --launcher mpi: the package trireme-mpi, or a build with libopenmpi-dev"};
}

Feature failpoints() {
#ifdef TRIREME_FAILPOINTS
  return {"failpoints", true, "tests can make this program fail; not for real work"};
#else
  return {"failpoints", false, "for tests only"};
#endif
}

std::vector<Feature> all_features() {
  const bool has_page = web::page_absence().empty();
  return {mpi(), {"page", has_page, has_page ? "dashboard and HTML reports" : std::string(web::page_absence())}, failpoints()};
}

std::string commit_text(const Commit& commit) {
  return fmt::format("{}{}", commit.hash, commit.is_modified ? ", with changes that are not committed" : "");
}

}  // namespace

VersionFacts version_facts() {
  return {.version = std::string(version()),
          .commit = commit(),
          .compiler = compiler(),
          .build_type = TRIREME_BUILD_TYPE,
          .system = this_system(),
          .instruction_set = engine::instruction_set(),
          .cores = engine::usable_cores(),
          .libraries = all_libraries(),
          .features = all_features()};
}

std::string to_text(const VersionFacts& facts) {
  std::string text = fmt::format("trireme {}\n", facts.version);
  const auto add = [&text](std::string_view key, const std::string& value) { text += fmt::format("{:<17}{}\n", key, value); };
  add("commit", commit_text(facts.commit));
  add("compiler", fmt::format("{}, {}", facts.compiler, facts.build_type.empty() ? "no build type" : facts.build_type));
  add("system", facts.system);
  add("CPU", fmt::format("{}, {} core{}", facts.instruction_set.cpu, facts.cores, facts.cores == 1 ? "" : "s"));
  add("instruction set", fmt::format("{} (oneDNN), {} (own kernels)", facts.instruction_set.name, facts.instruction_set.kernels));
  text += "\nlibraries\n";
  for (const LibraryVersion& library : facts.libraries) text += fmt::format("  {:<15}{}\n", library.name, library.version);
  text += "\nfeatures\n";
  for (const Feature& feature : facts.features)
    text += fmt::format("  {:<15}{:<5}{}\n", feature.name, feature.is_there ? "yes" : "no", feature.remark);
  return text;
}

Json to_json(const VersionFacts& facts) {
  Json libraries = Json::object();
  for (const LibraryVersion& library : facts.libraries) libraries[library.name] = library.version;
  Json features = Json::object();
  for (const Feature& feature : facts.features) features[feature.name] = feature.is_there;
  return {{"version", facts.version},
          {"commit", facts.commit.hash},
          {"is_modified", facts.commit.is_modified},
          {"compiler", facts.compiler},
          {"build_type", facts.build_type},
          {"system", facts.system},
          {"cpu", facts.instruction_set.cpu},
          {"cores", facts.cores},
          {"instruction_set", facts.instruction_set.name},
          {"kernels", facts.instruction_set.kernels},
          {"libraries", std::move(libraries)},
          {"features", std::move(features)}};
}

}  // namespace trireme::cli
