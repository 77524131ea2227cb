// SPDX-License-Identifier: Apache-2.0
// Opening walks over all records once; reading takes one record by its place.
#include "trireme/data/records/record_source.h"

#include <algorithm>
#include <regex>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/data/formats/class_count.h"

namespace trireme::data {
namespace {

bool parse(std::string_view payload, wire::Example& example) {
  return example.ParseFromArray(payload.data(), static_cast<int>(payload.size()));
}

std::vector<std::string> read_class_names(const std::filesystem::path& path) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(path)) return names;
  const std::string text = read_file(path);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

}  // namespace

RecordSource::RecordSource(const std::vector<std::filesystem::path>& files, RecordSourceOptions options) : options_(std::move(options)) {
  format_.class_names = options_.class_names.empty() ? read_class_names(class_names_file(files.front())) : options_.class_names;
  if (options_.classes == 0) options_.classes = static_cast<std::int64_t>(format_.class_names.size());
  for (const std::filesystem::path& file : files) add_file(file);
  check_record_count(options_.records, size() + std::ssize(skipped_), files, starts_);
  if (samples_.empty())
    throw Error{data_loss, "{}: expected whole records, found {} damaged ones only", files.front().string(), skipped_.size()};
  if (!skipped_.empty())
    options_.warnings.push_back(
        fmt::format("tfrecord: left out {} damaged of {} records: {}", skipped_.size(), size() + std::ssize(skipped_), skipped_.front()));
  if (format_.targets == 0) finish_labels();
  buffer_ = {};
}

void RecordSource::finish_labels() {
  if (texts_) {
    const std::vector<std::int32_t> labels = texts_->finish(format_);
    for (std::size_t i = 0; i < labels.size(); ++i) samples_[i].label = labels[i];
    texts_.reset();
    return;
  }
  format_.classes = options_.classes;
  for (const Sample& sample : samples_)
    if (options_.classes == 0) format_.classes = std::max<std::int64_t>(format_.classes, sample.label + 1);
  if (static_cast<std::int64_t>(format_.class_names.size()) != format_.classes) format_.class_names.clear();
}

std::int32_t RecordSource::label(std::int64_t index) const { return samples_[static_cast<std::size_t>(index)].label; }

std::span<const float> RecordSource::target(std::int64_t index) const {
  const auto count = static_cast<std::size_t>(format_.targets);
  return std::span(targets_).subspan(static_cast<std::size_t>(index) * count, count);
}

void RecordSource::read(std::int64_t index, std::span<std::byte> sample) const {
  ensure(sample.size() == format_.sample_bytes() && index >= 0 && index < size(), "a read inside the set");
  const Sample& entry = samples_[static_cast<std::size_t>(index)];
  const RecordFile& file = files_[entry.file];
  std::string buffer;
  const auto payload = file.payload(entry.place, DataCheck::checked, buffer);
  wire::Example example;
  if (!payload || !parse(*payload, example))
    throw Error{data_loss, "{}: expected {} bytes of an Example, found them damaged", name_of(file, entry.place), entry.place.length};
  ExampleFeatures(example, options_.example, name_of(file, entry.place)).read(format_.shape, format_.element, sample);
}

void RecordSource::add_file(const std::filesystem::path& path) {
  const RecordFile& file = files_.emplace_back(path, options_.compression);
  starts_.push_back(size());
  if (file.size() == 0) throw Error{data_loss, "{}: expected records, found an empty file", file.name()};
  for (std::uint64_t begin = 0; begin < file.size();) {
    const RecordPlace place = file.place_at(begin);
    add_record(place);
    begin = RecordFile::end_of(place);
  }
}

void RecordSource::add_record(const RecordPlace& place) {
  const RecordFile& file = files_.back();
  const auto payload = file.payload(place, options_.verify ? DataCheck::checked : DataCheck::unchecked, buffer_);
  wire::Example example;
  if (payload && parse(*payload, example)) return add_example(example, place);
  std::string damage = fmt::format("{}: expected {} bytes of a tf.train.Example, found {}", name_of(file, place), place.length,
                                   payload ? "something else" : "bytes with another CRC");
  if (!options_.skip_damaged) throw Error{data_loss, "{}; on_damage = \"skip\" leaves such records out", damage};
  skipped_.push_back(std::move(damage));
}

void RecordSource::add_example(const wire::Example& example, const RecordPlace& place) {
  const std::string name = name_of(files_.back(), place);
  const ExampleFeatures features(example, options_.example, name);
  const Sample sample{.place = place, .file = static_cast<std::uint32_t>(files_.size() - 1)};
  if (samples_.empty()) {
    format_.shape = features.shape();
    format_.element = features.element();
    format_.targets = features.has_label() ? 0 : static_cast<std::int64_t>(features.targets().size());
  }
  if (options_.verify || samples_.empty()) features.expect(format_.shape, format_.element);
  samples_.push_back(sample);
  if (format_.targets == 0) {
    add_label(features, name);
  } else {
    const std::span<const float> targets = features.targets();
    if (static_cast<std::int64_t>(targets.size()) != format_.targets)
      throw Error{data_loss, "{}: expected {} targets as in the first record, found {}", name, format_.targets, targets.size()};
    targets_.insert(targets_.end(), targets.begin(), targets.end());
  }
}

// The first record decides what labels are.
void RecordSource::add_label(const ExampleFeatures& features, const std::string& name) {
  const ExampleLabel label = features.label();
  if (samples_.size() == 1 && label.is_text) texts_.emplace(format_.class_names, options_.classes);
  if (label.is_text != texts_.has_value())
    throw Error{data_loss,
                "{}: expected {} in the feature '{}' as in the first record, found {}",
                name,
                texts_ ? "a text" : "an integer",
                options_.example.label,
                label.is_text ? fmt::format("the text '{}'", label.text) : fmt::format("{}", label.number)};
  if (texts_)
    texts_->add(label.text, name);
  else
    samples_.back().label = checked_label(label.number, options_.classes, name);
}

std::string RecordSource::name_of(const RecordFile& file, const RecordPlace& place) {
  return fmt::format("{}: record at byte {}", file.name(), place.offset);
}

std::filesystem::path class_names_file(const std::filesystem::path& shard) {
  static const std::regex kShardNumber("-[0-9]{5,}-of-[0-9]{5,}$");
  return std::regex_replace(shard.string(), kShardNumber, "") + ".classes.txt";
}

}  // namespace trireme::data
