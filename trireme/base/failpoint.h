// SPDX-License-Identifier: Apache-2.0
// Named places where a test can make this process die, stop, sleep or fail; in a build without TRIREME_FAILPOINTS they are nothing.
#pragma once

#include <string_view>

namespace trireme {

#ifdef TRIREME_FAILPOINTS

// Does what was ordered for this place, if anything.
void failpoint(std::string_view name);
// Whether what was computed there is to be no number: the order `nan`.
bool is_spoiled(std::string_view name);
// Orders, separated by blanks: "step.before_allreduce@1:3:kill" kills node 1 when it comes there for the third time. Without @node
// every process obeys. Actions: kill, stop (SIGSTOP), exit (code 1, at once), throw (aborted), sleep=SECONDS, eio, enospc (as if the
// system had said so), pace=SECONDS (at every visit: they are at least so far apart, in every process), hoard (memory, until the system
// ends the process), nan (only where is_spoiled is asked). The word once=FOLDER makes each order count once for all processes, so that a
// node started again is spared: the node that obeys the first order leaves the file FOLDER/0, made just before the deed. `node` is this
// process's name. Called once, before threads are started; throws invalid_argument.
void arm_failpoints(std::string_view orders, std::string_view node);

#else

inline void failpoint(std::string_view) {}
inline bool is_spoiled(std::string_view) { return false; }
inline void arm_failpoints(std::string_view, std::string_view) {}

#endif

}  // namespace trireme
