// SPDX-License-Identifier: Apache-2.0
// The samples of TFRecord shards: labels and places in memory, values read when they are asked for.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/data/formats/text_labels.h"
#include "trireme/data/records/example_features.h"
#include "trireme/data/records/record_file.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

struct RecordSourceOptions {
  ExampleOptions example;
  std::optional<Compression> compression;  // none given: by content
  bool verify = true;                      // the CRC and the features of every record, not only labels and lengths
  bool skip_damaged = false;
  std::int64_t classes = 0;              // 0: from names or labels
  std::vector<std::string> class_names;  // empty: those beside the files
  std::vector<std::string> warnings;     // of the files
  std::int64_t records = 0;              // 0: any number
};

class RecordSource final : public Source {
 public:
  RecordSource(const std::vector<std::filesystem::path>& files, RecordSourceOptions options);

  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  std::int32_t label(std::int64_t index) const override;
  std::span<const float> target(std::int64_t index) const override;
  void read(std::int64_t index, std::span<std::byte> sample) const override;
  std::vector<std::int64_t> file_starts() const override { return starts_; }
  std::vector<std::string> warnings() const override { return options_.warnings; }
  std::vector<std::string> skipped() const override { return skipped_; }

 private:
  struct Sample {
    RecordPlace place;
    std::uint32_t file = 0;
    std::int32_t label = 0;
  };

  void add_file(const std::filesystem::path& path);
  void add_record(const RecordPlace& place);
  void add_example(const wire::Example& example, const RecordPlace& place);
  void add_label(const ExampleFeatures& features, const std::string& name);
  void finish_labels();
  static std::string name_of(const RecordFile& file, const RecordPlace& place);

  RecordSourceOptions options_;
  SampleFormat format_;
  std::vector<RecordFile> files_;
  std::vector<std::int64_t> starts_;
  std::vector<Sample> samples_;
  std::optional<TextLabels> texts_;  // if labels are texts
  std::vector<float> targets_;
  std::vector<std::string> skipped_;
  std::string buffer_;  // of the opening only
};

// Where the class names of a set stand: beside the shards, without their numbers (cats-00000-of-00010 -> cats.classes.txt).
std::filesystem::path class_names_file(const std::filesystem::path& shard);

}  // namespace trireme::data
