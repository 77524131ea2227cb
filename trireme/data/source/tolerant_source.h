// SPDX-License-Identifier: Apache-2.0
// Samples of which some can't be read: those become zeros and are named, and the others go on.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "trireme/data/source/source.h"

namespace trireme::data {

class TolerantSource final : public Source {
 public:
  explicit TolerantSource(std::shared_ptr<const Source> base) : base_(std::move(base)) {}

  const SampleFormat& format() const override { return base_->format(); }
  std::int64_t size() const override { return base_->size(); }
  std::int32_t label(std::int64_t index) const override { return base_->label(index); }
  std::span<const float> target(std::int64_t index) const override { return base_->target(index); }
  void read(std::int64_t index, std::span<std::byte> sample) const override;
  bool in_memory() const override { return base_->in_memory(); }
  std::string sample_name(std::int64_t index) const override { return base_->sample_name(index); }
  std::vector<std::string> warnings() const override { return base_->warnings(); }

  // Of samples that were read so far and could not be: why, by index.
  std::map<std::int64_t, std::string> faults() const;
  bool is_faulty(std::int64_t index) const;

 private:
  std::shared_ptr<const Source> base_;
  mutable std::mutex mutex_;
  mutable std::map<std::int64_t, std::string> faults_;
};

}  // namespace trireme::data
