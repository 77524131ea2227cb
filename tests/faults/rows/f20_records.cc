// SPDX-License-Identifier: Apache-2.0
// F20: malformed TFRecords: refused with file and record, or skipped and counted, within bounded memory.
#include <fmt/format.h>

#include "tests/faults/parts.h"
#include "tests/faults/scene.h"
#include "trireme/base/files.h"

namespace trireme::tests::rows {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

struct Damage {
  std::string name;
  std::string bytes;
};

// Of a good file whose first record begins at 0: eight bytes of length, four of their checksum, the data, four of theirs.
std::vector<Damage> damages(const std::string& good) {
  std::string length_sum = good, data_sum = good, huge = good, example = good;
  length_sum[8] = static_cast<char>(length_sum[8] ^ 1);
  data_sum[20] = static_cast<char>(data_sum[20] ^ 1);
  for (int i = 0; i < 8; ++i) huge[static_cast<std::size_t>(i)] = static_cast<char>(i == 7 ? 0x80 : 0);
  return {{"a bit of a length's checksum", length_sum},
          {"a bit of the data", data_sum},
          {"a length of 2^63", huge},
          {"the last byte missing", good.substr(0, good.size() - 1)},
          {"cut in a length", good.substr(0, 5)}};
}

Outcome refused(Scene& scene) {
  Outcome outcome;
  const fs::path folder = scene.folder() / "records";
  const Ended made = run_trireme(
      {"convert", "--reader", "synthetic_digits", "--set", "samples=50", "--to", "tfrecord", "--shards", "1", "--out", folder.string()},
      seconds(60));
  require(made.code == 0, "trireme convert: " + made.text);
  fs::path file;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename().string().find("train") != std::string::npos) file = entry.path();
  require(!file.empty(), "trireme convert made no training file:\n" + made.text);
  const std::string good = read_file(file);
  const fs::path job = scene.folder() / "job.toml";
  write_file_atomically(job, fmt::format("[model]\nname = \"mlp_128\"\n[data]\nreader = \"tfrecord\"\ntrain = [\"{}\"]\n", file.string()));
  const Ended control = run_trireme({"data", job.string()}, seconds(20));
  require(control.code == 0, "the undamaged file is refused: " + control.text);
  double slowest = 0;
  int count = 0;
  for (const Damage& damage : damages(good)) {
    write_file_atomically(file, damage.bytes);
    const Ended ended = run_trireme({"data", job.string()}, seconds(20));
    slowest = std::max(slowest, ended.seconds);
    ++count;
    if (ended.code < 1 || ended.text.find(file.filename().string()) == std::string::npos)
      outcome.problems.push_back(fmt::format("{}: exit code {}: {}", damage.name, ended.code, ended.text));
  }
  outcome.result = fmt::format("{} kinds refused, the slowest after {:.2f} s", count, slowest);
  return outcome;
}

}  // namespace

Rows f20_records() {
  return {{.id = "F20.refused", .fault = "TFRecords with bent lengths, checksums and ends", .run = refused},
          {.id = "F20.kinds", .fault = "every flipped bit of a TFRecord; damaged records skipped and counted", .run = [](Scene&) {
             Outcome outcome;
             const int count = run_tests("trireme_data_test", "Tfrecord*:*tfrecord*", outcome);
             outcome.result = fmt::format("{} tests", count);
             return outcome;
           }}};
}

}  // namespace trireme::tests::rows
