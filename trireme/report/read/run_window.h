// SPDX-License-Identifier: Apache-2.0
// When a run trained: from a session's first step to its last one, for each session of it.
#pragma once

#include <vector>

namespace trireme::report {

struct Session {
  double begin = 0;
  double end = 0;
};

struct RunWindow {
  std::vector<Session> sessions;  // in order; the last one may still grow

  enum class Place { inside, outside, later };
  // `later`: after all that is known; it may turn out to be inside.
  Place place(double time) const {
    if (sessions.empty() || time > sessions.back().end) return Place::later;
    for (const Session& session : sessions)
      if (time >= session.begin && time <= session.end) return Place::inside;
    return Place::outside;
  }
};

}  // namespace trireme::report
