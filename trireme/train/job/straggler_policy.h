// SPDX-License-Identifier: Apache-2.0
// What becomes of a worker that holds the others up: less work, a pause, or a strategy in which no worker waits for it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"

namespace trireme::train {

// shares: it gets less of each batch, which is the workers' own business; nothing happens here.
// drop: it is left out for a pause, which doubles each time it comes back and is slow again. It is forgiven when it came back and
//   kGone measurements in a row found no slow worker.
// async: until kGone measurements in a row have found no slow worker, workers should not wait for each other.
class StragglerPolicy {
 public:
  static constexpr Seconds kFirstPause{30};
  static constexpr Seconds kMaxPause{600};
  static constexpr int kGone = 2;

  enum class Rule { shares, drop, async };
  // The clock must outlive it.
  StragglerPolicy(Rule rule, const Clock& clock) : rule_(rule), clock_(clock) {}

  // A measurement found that member slow. True if that changes what should be.
  bool slow(const std::string& node);
  // A measurement of these members found no slow one. True if there was a straggler until now.
  bool nobody(const std::vector<std::string>& members);

  bool is_out(const std::string& node) const;
  Seconds pause(const std::string& node) const;  // the last one it got; 0: none, or forgiven
  bool wants_async() const { return rule_ == Rule::async && is_there_; }

 private:
  struct Paused {
    Seconds pause{0};
    Seconds until{0};
    int good = 0;  // measurements since it is back
  };

  Rule rule_;
  const Clock& clock_;
  std::map<std::string, Paused> paused_;
  bool is_there_ = false;  // a straggler among the members
  int good_ = 0;           // measurements in a row
};

StragglerPolicy::Rule straggler_rule(std::string_view name);

}  // namespace trireme::train
