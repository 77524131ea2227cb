// SPDX-License-Identifier: Apache-2.0
// cifar: binary batches of CIFAR-10 and CIFAR-100, a record being one or two label bytes and three planes of 32 x 32.
#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/byte_stream.h"
#include "trireme/data/formats/class_count.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::data::readers {
namespace {

constexpr std::size_t kImage = std::size_t{3} * 32 * 32;

struct CifarOptions {
  std::string variant = "cifar10";
  std::string labels = "fine";
  std::int64_t records = 0;
};

void describe(CifarOptions& o, OptionVisitor& visit) {
  visit("variant", o.variant, "which set it is: records of cifar100 have two labels", {"cifar10", "cifar100"});
  visit("labels", o.labels, "of cifar100: 100 fine or 20 coarse classes", {"fine", "coarse"});
  visit("records", o.records, "how many there must be in all files; 0: any number (a file cut between two records goes unnoticed)", 0);
}

struct Layout {
  std::size_t label_bytes = 1;
  std::size_t label = 0;  // which of them counts
  std::array<std::int64_t, 2> classes{10, 0};

  std::size_t record() const { return label_bytes + kImage; }
};

Layout layout_of(const CifarOptions& options) {
  if (options.variant == "cifar10") return {};
  return {.label_bytes = 2, .label = options.labels == "coarse" ? std::size_t{0} : std::size_t{1}, .classes = {20, 100}};
}

void append_file(const std::filesystem::path& path, const Layout& layout, MemorySamples& out) {
  ByteStream in(path);
  const std::vector<std::byte> content = in.read_rest();
  if (content.empty() || content.size() % layout.record() != 0)
    throw Error{data_loss,
                "{}: expected whole records of {} bytes, found {} bytes, {} after the last whole record (at byte {})",
                in.name(),
                layout.record(),
                content.size(),
                content.size() % layout.record(),
                content.size() - content.size() % layout.record()};
  for (std::size_t at = 0; at < content.size(); at += layout.record()) {
    const auto record = std::span(content).subspan(at, layout.record());
    for (std::size_t i = 0; i < layout.label_bytes; ++i) {
      const auto label = std::to_integer<std::int64_t>(record[i]);
      if (label >= layout.classes[i]) checked_label(label, layout.classes[i], fmt::format("{}: byte {}", in.name(), at + i));
    }
    out.labels.push_back(std::to_integer<std::int32_t>(record[layout.label]));
    out.values.insert(out.values.end(), record.begin() + static_cast<std::ptrdiff_t>(layout.label_bytes), record.end());
  }
}

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const CifarOptions&>(request.options);
  const Layout layout = layout_of(options);
  if (request.files.empty()) throw Error{invalid_argument, "the reader cifar needs at least one file"};
  MemorySamples samples{.format = {.shape = {3, 32, 32}, .classes = layout.classes[layout.label]}, .file_starts = {}};
  for (const std::filesystem::path& file : request.files) {
    samples.file_starts.push_back(static_cast<std::int64_t>(samples.labels.size()));
    append_file(file, layout, samples);
  }
  check_record_count(options.records, static_cast<std::int64_t>(samples.labels.size()), request.files, samples.file_starts);
  return std::make_unique<MemorySource>(std::move(samples));
}

ReaderRequest example(const std::filesystem::path& folder) {
  std::string records;
  for (std::size_t sample = 0; sample < 3; ++sample) {
    records += static_cast<char>(9 - sample);
    for (std::size_t value = 0; value < kImage; ++value) records += static_cast<char>(value * (sample + 1));
  }
  write_file_atomically(folder / "batch.bin", records);
  return {.files = {folder / "batch.bin"}, .options = CifarOptions{.records = 3}};
}

}  // namespace

ReaderEntry cifar() {
  return {.name = "cifar",
          .summary = "binary batches of CIFAR-10 and CIFAR-100, 3x32x32",
          .options = options_type<CifarOptions>(),
          .open = open,
          .example = example};
}

}  // namespace trireme::data::readers
