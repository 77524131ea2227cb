// SPDX-License-Identifier: Apache-2.0
// The options of strategy `ps`, and what follows from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "trireme/ps/rules.h"

namespace trireme::train {

struct ParameterServerOptions {
  std::int64_t servers = 1;
  std::string placement = "dedicated";
  std::string mode = "async";
  std::int64_t staleness = 3;
  std::int64_t staleness_min = 3;
  std::int64_t staleness_max = 15;
  std::int64_t backup_workers = 0;
  std::int64_t min_shard_bytes = 256 << 10;
  std::int64_t max_shards = 0;
  bool divide_learning_rate = true;
  bool damp_staleness = false;
  std::string wire = "f32";
};
struct ServerPlacement {
  std::int64_t servers = 1;  // 0: every node
  bool shared = false;       // servers compute, too
};

ps::Rules rules_of(const ParameterServerOptions& options);
ServerPlacement placement_of(const ParameterServerOptions& options);
// Of the samples of an update. With backup workers it takes fewer parts, which are larger for that.
std::int64_t parts_of_a_batch(const ParameterServerOptions& options, std::size_t workers);
// Most samples that a worker gets at once.
std::int64_t lease_size(const ParameterServerOptions& options, std::int64_t batch_size, std::size_t workers);

}  // namespace trireme::train
