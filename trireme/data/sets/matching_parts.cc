// SPDX-License-Identifier: Apache-2.0
// Renumbers labels by the names of classes.
#include "trireme/data/sets/matching_parts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/data/formats/text_lists.h"

namespace trireme::data {
namespace {

class Renumbered final : public Source {
 public:
  // `labels[i]` stands for label i of `base`.
  Renumbered(std::shared_ptr<const Source> base, SampleFormat format, std::vector<std::int32_t> labels)
      : base_(std::move(base)), format_(std::move(format)), labels_(std::move(labels)) {}

  const SampleFormat& format() const override { return format_; }
  std::int64_t size() const override { return base_->size(); }
  std::int32_t label(std::int64_t index) const override { return labels_[static_cast<std::size_t>(base_->label(index))]; }
  std::span<const float> target(std::int64_t index) const override { return base_->target(index); }
  void read(std::int64_t index, std::span<std::byte> sample) const override { base_->read(index, sample); }
  std::vector<std::int64_t> file_starts() const override { return base_->file_starts(); }
  bool in_memory() const override { return base_->in_memory(); }
  std::string sample_name(std::int64_t index) const override { return base_->sample_name(index); }
  std::vector<std::string> warnings() const override { return base_->warnings(); }
  std::vector<std::string> skipped() const override { return base_->skipped(); }

 private:
  std::shared_ptr<const Source> base_;
  SampleFormat format_;
  std::vector<std::int32_t> labels_;
};

void check_kinds(const SampleFormat& a, const SampleFormat& b) {
  if (a.shape != b.shape || a.element != b.element)
    throw Error{invalid_argument, "[data]: a training sample is {}, a test sample {}; both parts must be alike", a.shape.to_string(),
                b.shape.to_string()};
  if ((a.classes > 0) != (b.classes > 0) || a.targets != b.targets)
    throw Error{invalid_argument, "[data]: training samples have {}, test samples {}; both parts must be alike",
                a.classes > 0 ? "classes" : fmt::format("{} numbers to predict", a.targets),
                b.classes > 0 ? "classes" : fmt::format("{} numbers to predict", b.targets)};
}

std::vector<std::int32_t> labels_by_name(const std::vector<std::string>& train, const std::vector<std::string>& test) {
  std::vector<std::int32_t> labels;
  std::vector<std::string> unknown;
  for (const std::string& name : test) {
    const auto found = std::ranges::find(train, name);
    labels.push_back(static_cast<std::int32_t>(found - train.begin()));
    if (found == train.end()) unknown.push_back(name);
  }
  if (!unknown.empty())
    throw Error{invalid_argument, "[data]: the test part has {} that the training part does not have: {}; its classes are: {}",
                unknown.size() == 1 ? "a class" : fmt::format("{} classes", unknown.size()), fmt::join(unknown, ", "),
                fmt::join(train, ", ")};
  return labels;
}

}  // namespace

std::shared_ptr<const Source> matched_to(const Source& train, std::shared_ptr<const Source> test) {
  const SampleFormat& a = train.format();
  const SampleFormat& b = test->format();
  check_kinds(a, b);
  if (!a.class_names.empty() && !b.class_names.empty() && a.class_names != b.class_names) {
    std::vector<std::int32_t> labels = labels_by_name(a.class_names, b.class_names);
    return std::make_shared<Renumbered>(std::move(test), a, std::move(labels));
  }
  if (b.classes > a.classes)
    throw Error{invalid_argument, "[data]: the test part has {} classes, the training part only {}", b.classes, a.classes};
  return test;
}

void set_class_names(const ReaderEntry& reader, std::any& options, const std::vector<std::string>& names) {
  visit_text_lists(reader, options, [&](std::string_view option, std::vector<std::string>& value) {
    if (option == "class_names" && value.empty()) value = names;
  });
}

}  // namespace trireme::data
