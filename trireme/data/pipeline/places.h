// SPDX-License-Identifier: Apache-2.0
// Which samples the batches of an endless row of epochs take, one batch after the other.
#pragma once

#include <cstdint>
#include <optional>

#include "trireme/data/pipeline/batch_stream.h"

namespace trireme::data {

class EpochPlaces {
 public:
  EpochPlaces(const StreamOptions& options, std::int64_t samples);
  std::optional<Place> next();  // of all workers together; nothing after the last epoch

 private:
  std::int64_t samples_, batch_size_, epochs_;
  std::int64_t epoch_, offset_;
};

}  // namespace trireme::data
