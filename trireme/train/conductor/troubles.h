// SPDX-License-Identifier: Apache-2.0
// What is wrong with the generation that holds: who is to blame, and when enough is known to go on without them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/coord/messages.h"

namespace trireme::train {

struct Blame {
  enum class Certainty { own_error, process_ended, lost };
  Certainty certainty = Certainty::lost;
  ErrorCode code = aborted;
  std::string what;  // "failed", "is lost", "ended"
  std::string cause;
  coord::Progress progress;  // where it was last heard of
};

// A node missed another one, or does not know which.
struct Complaint {
  std::string by;
  std::string about;
  std::string text = {};  // in its words
};

// A dead node and those who miss it report within milliseconds of each other, in any order: the one that knows best is believed.
class Troubles {
 public:
  // Nodes that only miss another are believed after `silence`: if that one is dead, it is known by then.
  Troubles(Seconds silence, const Clock& clock) : silence_(silence), clock_(clock) {}

  void blame(const std::string& node, Blame found);
  void complain(Complaint complaint);
  void clear();

  bool any() const { return due_.has_value(); }
  bool are_due() const { return due_ && clock_.now() >= *due_; }
  const std::map<std::string, Blame>& blames() const { return blames_; }
  const std::optional<Complaint>& first_complaint() const { return complaint_; }

 private:
  void act_within(Seconds time);

  Seconds silence_;
  const Clock& clock_;
  std::map<std::string, Blame> blames_;
  std::optional<Complaint> complaint_;
  std::optional<Seconds> due_;
};

}  // namespace trireme::train
