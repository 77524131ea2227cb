// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader TRIREME_READER: the input replaces the files of its example; a synthetic set gets it as its options.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fuzz/pieces.h"
#include "fuzz/workspace.h"
#include "trireme/base/error.h"
#include "trireme/base/parallel.h"
#include "trireme/data/formats/reader_entry.h"

namespace trireme::fuzz {
namespace {

void read_all(const data::Source& source) {
  std::vector<std::byte> sample(source.format().sample_bytes());
  for (std::int64_t i = 0; i < source.size(); ++i) {
    source.read(i, sample);
    const std::int64_t label = source.label(i), classes = source.format().classes;
    if (classes > 0 && (label < 0 || label >= classes)) std::abort();
    if (source.target(i).size() != static_cast<std::size_t>(source.format().targets) || source.sample_name(i).empty()) std::abort();
  }
  for (const std::int64_t start : source.file_starts())
    if (start < 0 || start > source.size()) std::abort();
}

struct Example {
  Workspace workspace;
  const data::ReaderEntry& entry = data::find_reader(TRIREME_READER);
  data::ReaderRequest request = entry.example(workspace.path());
  std::vector<std::filesystem::path> files = workspace.files();

  // Undamaged it must be readable: otherwise every input would end at the same early check.
  Example() { read_all(*entry.open(request)); }
};

// Large sets are no fault, but they take their time.
bool is_small(const data::ReaderEntry& entry, std::any options) {
  OptionLister lister;
  entry.options.visit(options, lister);
  return std::all_of(lister.rows.begin(), lister.rows.end(), [](const OptionRow& row) {
    return row.name.find("samples") == std::string::npos || std::strtoll(row.value.c_str(), nullptr, 10) <= 20;
  });
}

void try_options(const Example& example, std::string_view text) {
  data::ReaderRequest request = example.request;
  const Config config = Config::parse_toml(text, "input");
  OptionReader reader(config, "input");
  example.entry.options.visit(request.options, reader);
  reader.finish();
  if (is_small(example.entry, request.options)) read_all(*example.entry.open(request));
}

void try_files(const Example& example, std::string_view input) {
  const std::vector<std::string_view> pieces = unpack(input, example.files.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) overwrite(example.files[i], pieces[i]);
  read_all(*example.entry.open(example.request));
}

void run(std::string_view input) {
  static const Example example;
  const ThreadScope one_thread(1);
  try {
    if (example.entry.reads_files)
      try_files(example, input);
    else
      try_options(example, input);
  } catch (const Error&) {  // what a bad input should lead to
  }
}

}  // namespace
}  // namespace trireme::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  trireme::fuzz::run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
