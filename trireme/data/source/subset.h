// SPDX-License-Identifier: Apache-2.0
// Some samples of another source, in an order of their own: a split, a shard, a worker's share.
#pragma once

#include <memory>
#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data {

class Subset final : public Source {
 public:
  // `indices` are samples of `base`, in any order, also repeated.
  Subset(std::shared_ptr<const Source> base, std::vector<std::int64_t> indices);

  const SampleFormat& format() const override { return base_->format(); }
  std::int64_t size() const override { return static_cast<std::int64_t>(indices_.size()); }
  std::int32_t label(std::int64_t index) const override { return base_->label(at(index)); }
  std::span<const float> target(std::int64_t index) const override { return base_->target(at(index)); }
  void read(std::int64_t index, std::span<std::byte> sample) const override { base_->read(at(index), sample); }
  // Those of `base` as far as samples of them are left, if the indices ascend; otherwise files are mixed and count as one.
  std::vector<std::int64_t> file_starts() const override;
  bool in_memory() const override { return base_->in_memory(); }
  std::string sample_name(std::int64_t index) const override { return base_->sample_name(at(index)); }
  std::vector<std::string> warnings() const override { return base_->warnings(); }

 private:
  std::int64_t at(std::int64_t index) const { return indices_[static_cast<std::size_t>(index)]; }

  std::shared_ptr<const Source> base_;
  std::vector<std::int64_t> indices_;
};

}  // namespace trireme::data
