// SPDX-License-Identifier: Apache-2.0
// What a worker may ask of all: it happens at the end of the step in which all have received it.
#pragma once

namespace trireme::train {

struct Requests {
  bool stop = false;        // end the training here, as if it had been interrupted
  bool checkpoint = false;  // all stand at a boundary now: keep the state
  bool regroup = false;     // nodes join or leave: wait for the next generation
  bool any() const { return stop || checkpoint || regroup; }
};

}  // namespace trireme::train
