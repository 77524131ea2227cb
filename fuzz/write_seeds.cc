// SPDX-License-Identifier: Apache-2.0
// Writes a good input for each target: write_seeds FOLDER JOBS... makes FOLDER/<target>/...; JOBS are folders of job files.
#include <cstdio>

#include "fuzz/pieces.h"
#include "fuzz/sample_run.h"
#include "fuzz/workspace.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/reader_entry.h"

namespace trireme::fuzz {
namespace {

namespace fs = std::filesystem;

std::string packed(const std::vector<fs::path>& files) {
  std::vector<std::string> contents;
  for (const fs::path& file : files) contents.push_back(read_file(file));
  return pack(contents);
}

std::string options_text(const data::ReaderEntry& entry, std::any options) {
  OptionLister lister;
  entry.options.visit(options, lister);
  std::string text;
  for (const OptionRow& row : lister.rows) text += row.name + " = " + row.value + "\n";
  return text;
}

void write_reader_seed(const data::ReaderEntry& entry, const fs::path& folder) {
  const Workspace workspace;
  const data::ReaderRequest request = entry.example(workspace.path());
  const std::string seed = entry.reads_files ? packed(workspace.files()) : options_text(entry, request.options);
  write_file_atomically(folder / "example", seed);
}

void write_checkpoint_seed(const fs::path& folder) {
  const Workspace workspace;
  const graph::Graph graph = sample_graph();
  const fs::path saved = train::CheckpointStore(workspace.path(), graph).save(sample_checkpoint(graph));
  std::vector<fs::path> files;
  for (const std::string_view name : kCheckpointFiles) files.push_back(saved / name);
  write_file_atomically(folder / "example", packed(files));
}

void write_job_seeds(const fs::path& folder, const fs::path& jobs) {
  for (const auto& job : fs::directory_iterator(jobs))
    if (job.path().extension() == ".toml") write_file_atomically(folder / job.path().filename(), read_file(job.path()));
}

// As printed where blueprints come from, slips included.
void write_blueprint_seed(const fs::path& folder) {
  constexpr std::string_view kBlueprint =
      "{ \"connections\": [\n{ \"IP\": \"147.102.19.131\", \"Password\": \"pas131\", \"GPUS\": 0 \"energy efficient\": yes },\n"
      "{ \"IP\": \"fd00::4\", \"username\": \"ann\", \"GPUS\": 1, \"energy_efficient\": \"no\" }\n] }\n";
  write_file_atomically(folder / "example", kBlueprint);
}

void write_seeds(const fs::path& folder, const std::vector<fs::path>& jobs) {
  for (const data::ReaderEntry& entry : data::readers::catalog()) write_reader_seed(entry, folder / ("fuzz_" + std::string(entry.name)));
  write_checkpoint_seed(folder / "fuzz_checkpoint");
  write_blueprint_seed(folder / "fuzz_blueprint");
  for (const fs::path& job_folder : jobs) write_job_seeds(folder / "fuzz_job", job_folder);
}

}  // namespace
}  // namespace trireme::fuzz

int main(int count, char** arguments) {
  if (count < 3) {
    std::fputs("usage: write_seeds FOLDER JOBS...\n", stderr);
    return 2;
  }
  try {
    trireme::fuzz::write_seeds(arguments[1], {arguments + 2, arguments + count});
  } catch (const trireme::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
