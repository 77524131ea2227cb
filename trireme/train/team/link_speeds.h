// SPDX-License-Identifier: Apache-2.0
// Whose link is slow: in an exchange all wait for it alike, so times of steps don't show it; what each connection delivers does.
#pragma once

#include <optional>
#include <span>

#include "trireme/train/records/observer.h"
#include "trireme/train/team/team.h"

namespace trireme::train {

class LinkSpeeds {
 public:
  // A step of this worker, of which `waited` was for others with nothing to compute.
  void count(double seconds, double waited);
  // All workers together, at the same steps. A link that was slow twice in a row, while waiting took a good part of the steps.
  std::optional<SlowLinkRecord> measure(Team& team);

 private:
  double seconds_ = 0, waited_ = 0;  // since the last measurement
  int suspect_ = -1;                 // of the last measurement
};

// `rates` has a row for each of `members`: bytes per second to each of them, 0 if that is not known. The worker to and from which all is
// slow, if it is much slower than the median of all. Of two members it is not known whose link it is.
std::optional<SlowLinkRecord> find_slow_link(std::span<const double> rates, int members);

}  // namespace trireme::train
