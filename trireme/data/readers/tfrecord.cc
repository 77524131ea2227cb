// SPDX-License-Identifier: Apache-2.0
// tfrecord: shards of tf.train.Examples, as TensorFlow and `trireme convert` write them, uncompressed, GZIP or ZLIB.
#include "trireme/base/error.h"
#include "trireme/data/formats/class_count.h"
#include "trireme/data/formats/reader_entry.h"
#include "trireme/data/records/record_files.h"
#include "trireme/data/records/record_source.h"
#include "trireme/data/records/record_writer.h"
#include "trireme/data/source/memory_source.h"

namespace trireme::data::readers {
namespace {

struct TfrecordOptions {
  ExampleOptions example;
  std::string compression = "auto";
  bool verify = true;
  std::string on_damage = "fail";
  std::int64_t classes = 0;
  std::vector<std::string> class_names;
  std::int64_t records = 0;
};

void describe(TfrecordOptions& o, OptionVisitor& visit) {
  describe(o.example, visit);
  visit("compression", o.compression, "of the files; auto: by their content", {"auto", "none", "gzip", "zlib"});
  visit("verify", o.verify, "check every record when the files are opened; otherwise only lengths and labels, the rest when it is read");
  visit("on_damage", o.on_damage, "what to do with a record whose CRC or message is wrong: refuse the set or leave the record out",
        {"fail", "skip"});
  visit("classes", o.classes, "how many there are; 0: as NAME.classes.txt beside the shards says, or the largest label + 1", 0,
        kMaxClasses);
  visit("class_names", o.class_names, "the classes in their order; empty: as NAME.classes.txt says, or numbers as they are, texts sorted");
  visit("records", o.records, "how many there must be in all files; 0: any number (a file cut between two records goes unnoticed)", 0);
}

std::optional<Compression> compression_of(const std::string& name) {
  if (name == "auto") return std::nullopt;
  return name == "gzip" ? Compression::gzip : name == "zlib" ? Compression::zlib : Compression::none;
}

std::unique_ptr<Source> open(const ReaderRequest& request) {
  const auto& options = std::any_cast<const TfrecordOptions&>(request.options);
  if (request.files.empty()) throw Error{invalid_argument, "the reader tfrecord needs at least one file"};
  RecordFiles found = record_files(request.files);
  ExampleOptions example = options.example;
  example.float_classes = options.classes > 0;
  return std::make_unique<RecordSource>(found.files, RecordSourceOptions{.example = example,
                                                                         .compression = compression_of(options.compression),
                                                                         .verify = options.verify,
                                                                         .skip_damaged = options.on_damage == "skip",
                                                                         .classes = options.classes,
                                                                         .class_names = options.class_names,
                                                                         .warnings = std::move(found.warnings),
                                                                         .records = options.records});
}

ReaderRequest example(const std::filesystem::path& folder) {
  MemorySamples samples{.format = {.shape = {3, 2, 4}, .classes = 2, .class_names = {"cat", "dog"}}, .labels = {0, 1, 1}};
  for (int value = 0; value < 3 * 24; ++value) samples.values.push_back(static_cast<std::byte>(value * 3));
  return {.files = write_records(MemorySource(std::move(samples)), folder, "pets", {.shards = 2}),
          .options = TfrecordOptions{.records = 3}};
}

}  // namespace

ReaderEntry tfrecord() {
  return {.name = "tfrecord",
          .summary = "TFRecord shards of tf.train.Example, plain, GZIP or ZLIB; images raw, PNG or JPEG, or floats; files or folders",
          .options = options_type<TfrecordOptions>(),
          .open = open,
          .image_fit = [](const std::any& options) { return fit_of(std::any_cast<const TfrecordOptions&>(options).example.picture); },
          .example = example};
}

}  // namespace trireme::data::readers
