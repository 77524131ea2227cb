// SPDX-License-Identifier: Apache-2.0
// What went wrong in the current generation: which nodes failed, and when enough is known to continue without them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/coord/messages.h"

namespace trireme::train {

struct Failure {
  enum class Evidence { own_error, process_ended, lost };  // the best first
  Evidence evidence = Evidence::lost;
  ErrorCode code = aborted;
  std::string what;  // "failed", "is lost", "ended"
  std::string cause;
  coord::Progress progress;  // as last reported
};

// A node could not reach another one; it may not know which.
struct PeerReport {
  std::string by;
  std::string about;
  std::string text = {};  // as reported
};

// A dead node and its peers report within milliseconds of each other, in any order: the best evidence counts.
class FailureLog {
 public:
  // Reports about a peer are acted on after `silence`: if that peer is dead, it is known by then.
  FailureLog(Seconds silence, const Clock& clock) : silence_(silence), clock_(clock) {}

  void add(const std::string& node, Failure failure);
  void add(PeerReport report);
  void clear();

  bool any() const { return due_.has_value(); }
  bool is_due() const { return due_ && clock_.now() >= *due_; }
  const std::map<std::string, Failure>& failures() const { return failures_; }
  const std::optional<PeerReport>& first_peer_report() const { return peer_report_; }

 private:
  void act_within(Seconds time);

  Seconds silence_;
  const Clock& clock_;
  std::map<std::string, Failure> failures_;
  std::optional<PeerReport> peer_report_;
  std::optional<Seconds> due_;
};

}  // namespace trireme::train
