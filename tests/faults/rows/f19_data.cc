// SPDX-License-Identifier: Apache-2.0
// F19: damaged data files are refused at the start, with file and place; nothing is started anywhere.
#include <fmt/format.h>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

namespace fs = std::filesystem;

constexpr int kSamples = 100;

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xffU);
  return bytes;
}

std::string images() {
  return big_endian(0x803) + big_endian(kSamples) + big_endian(28) + big_endian(28) +
         std::string(static_cast<std::size_t>(kSamples) * 28 * 28, 'x');
}
std::string labels() { return big_endian(0x801) + big_endian(kSamples) + std::string(kSamples, '\1'); }

struct Damage {
  std::string name;
  std::string images;
  std::string labels;
};

std::vector<Damage> damages() {
  std::string wrong_magic = images();
  wrong_magic[3] = 9;
  std::string promise = images();
  promise[4] = '\x7f';
  return {{"truncated", images().substr(0, images().size() - 1), labels()},
          {"empty", "", labels()},
          {"wrong magic", wrong_magic, labels()},
          {"2^31 images promised", promise, labels()},
          {"fewer labels", images(), big_endian(0x801) + big_endian(kSamples - 1) + std::string(kSamples - 1, '\1')},
          {"bad gzip", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10) + std::string(100, 'x'), labels()}};
}

Outcome refused(Scene& scene) {
  Outcome outcome;
  const fs::path job = scene.folder() / "job.toml";
  write_file_atomically(job, "[model]\nname = \"mlp_128\"\n[data]\nreader = \"idx\"\ntrain = [\"images\", \"labels\"]\n");
  double slowest = 0;
  int count = 0;
  for (const Damage& damage : damages()) {
    write_file_atomically(scene.folder() / "images", damage.images);
    write_file_atomically(scene.folder() / "labels", damage.labels);
    const fs::path runs = scene.folder() / "runs";
    const Ended ended =
        run_trireme({"train", job.string(), "-n", "2", "--threads", "1", "--runs", runs.string()}, std::chrono::seconds(20));
    slowest = std::max(slowest, ended.seconds);
    ++count;
    const bool names_file = ended.text.find("images") != std::string::npos || ended.text.find("labels") != std::string::npos;
    if (ended.code < 1 || !names_file) outcome.problems.push_back(fmt::format("{}: exit code {}: {}", damage.name, ended.code, ended.text));
    if (fs::exists(runs)) outcome.problems.push_back(damage.name + ": a run was made");
  }
  outcome.result = fmt::format("{} kinds refused, the slowest after {:.2f} s", count, slowest);
  return outcome;
}

// Every format: truncated at every byte, empty, missing, with flipped bits.
Outcome formats(Scene&) {
  Outcome outcome;
  const int count = run_tests("trireme_data_test", "*ReaderConformance*:Cifar*:Csv*:FitsTest*:Idx*:ImageFolderTest*:Tfrecord*", outcome);
  outcome.result = fmt::format("{} tests of all readers", count);
  return outcome;
}

}  // namespace

Rows f19_data() {
  return {{.id = "F19.refused", .fault = "truncated, empty, wrong or bent IDX files", .run = refused, .is_brief = true},
          {.id = "F19.formats", .fault = "every format, damaged in every way", .run = formats, .limit = std::chrono::seconds(200)}};
}

}  // namespace trireme::tests::rows
