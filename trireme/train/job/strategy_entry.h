// SPDX-License-Identifier: Apache-2.0
// How gradients of many workers become the next parameters: each file of strategies/ is one.
#pragma once

#include <any>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/options.h"
#include "trireme/observe/spans.h"
#include "trireme/ps/server.h"
#include "trireme/tensor/parameter_space.h"

namespace trireme::train {

class Replica;
class Strategy;
class Team;

// For event journals; may be empty.
struct PushEvents {
  std::function<void(const ps::Applied& push)> applied = {};                    // at this server
  std::function<void(std::uint64_t id)> acknowledged = {};                      // by all servers
  std::function<void(const ps::WorkDone& done, std::int64_t epoch)> used = {};  // at the lead
};

// exact: the gradients are those of one machine. eventual: workers drift apart for a while.
enum class Consistency { exact, eventual };
std::string_view name_of(Consistency consistency);

// How workers exchange what they computed.
enum class Exchange { none, all_reduce, servers };
std::string_view name_of(Exchange exchange);

// What a step sends and waits for: what reports and predictions need to know of a strategy. Goes into the journal.
struct StrategyFacts {
  Exchange exchange = Exchange::none;
  bool is_joint = true;              // all workers make one update together; otherwise each makes its own
  std::int64_t bytes_per_value = 4;  // on the wire
  std::int64_t steps_between = 1;    // two exchanges
  std::int64_t buckets = 1;          // into which an exchange is cut
  bool has_overlap = false;          // buckets are exchanged while backward still runs
  bool sends_slots = false;          // of the optimizer, beside one value per parameter
  bool servers_compute = false;      // so that a worker reaches one of them without sending
};

struct StrategyEntry {
  std::string_view name;
  std::string_view summary;
  Consistency consistency = Consistency::exact;
  OptionsType options;
  bool for_one = false;  // node alone
  bool in_step = true;   // workers make the same steps at the same time, so that they can exchange more than gradients
  // Of its short text, "ps:ssp:4": what follows the name, and what differs from the options' own defaults.
  std::vector<std::string_view> short_keys = {};
  std::vector<std::pair<std::string_view, std::string_view>> short_defaults = {};
  void (*check)(const std::any& options) = nullptr;  // throws what does not fit together; may be null
  // All must outlive the strategy.
  struct Setup {
    Team& team;
    const ParameterSpace& space;
    const Clock& clock;
    bool sync_batch_norm = false;  // steps may come with an exchange of statistics
    bool measures_noise = false;   // some steps are to measure the gradient noise scale, where the strategy can
    Replica& replica;
    std::int64_t batch_size = 1;
    std::any& kept;  // what the strategy leaves behind for the one of the next generation
    const PushEvents& events;
    observe::Spans* spans = nullptr;  // of the steps that are profiled; may be null
  };
  StrategyFacts (*facts)(const std::any& options, const ParameterSpace& space) = nullptr;  // null: it is made of others
  bool (*waits)(const std::any& options) = nullptr;  // for the slowest worker, in that it holds the others up; null: always
  // Null: it is made of others.
  std::unique_ptr<Strategy> (*make)(const Setup& setup, const std::any& options) = nullptr;
  std::string (*duties)(const std::any& options, int nodes) = nullptr;  // "2 servers and 6 workers"; null: all are workers
  // Most samples that node `rank` of `nodes` computes at once, before anything is known of their speed. Null: its even part of a batch.
  std::int64_t (*capacity)(const std::any& options, std::int64_t batch_size, int rank, int nodes) = nullptr;
};

namespace strategies {
const std::vector<StrategyEntry>& catalog();
}

const StrategyEntry& find_strategy(std::string_view name);

}  // namespace trireme::train
