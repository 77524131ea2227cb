// SPDX-License-Identifier: Apache-2.0
// Samples whose values have names: the columns of a table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data {

class NamedSource final : public Source {
 public:
  // A name for each value of a sample, in their order.
  NamedSource(std::unique_ptr<const Source> base, std::vector<std::string> names);

  const std::vector<std::string>& value_names() const { return names_; }

  const SampleFormat& format() const override { return base_->format(); }
  std::int64_t size() const override { return base_->size(); }
  std::int32_t label(std::int64_t index) const override { return base_->label(index); }
  std::span<const float> target(std::int64_t index) const override { return base_->target(index); }
  void read(std::int64_t index, std::span<std::byte> sample) const override { base_->read(index, sample); }
  std::vector<std::int64_t> file_starts() const override { return base_->file_starts(); }
  bool in_memory() const override { return base_->in_memory(); }
  std::string sample_name(std::int64_t index) const override { return base_->sample_name(index); }
  std::vector<std::string> warnings() const override { return base_->warnings(); }
  std::vector<std::string> skipped() const override { return base_->skipped(); }

 private:
  std::unique_ptr<const Source> base_;
  std::vector<std::string> names_;
};

// Of `source`, or of what it is a subset of; empty: the values have no names.
std::vector<std::string> value_names(const Source& source);

}  // namespace trireme::data
