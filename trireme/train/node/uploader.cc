// SPDX-License-Identifier: Apache-2.0
// A thread that hands in one checkpoint after another.
#include "trireme/train/node/uploader.h"

#include <string>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/train/messages/checkpoint_transfer.h"
#include "trireme/train/messages/reports.h"

namespace trireme::train {
namespace {

constexpr Seconds kCallTimeout{30};

}  // namespace

void Uploader::begin(Checkpoint checkpoint) {
  if (checkpoint.position() == position_) return;
  settle();
  position_ = checkpoint.position();
  running_ = std::async(std::launch::async, [this, state = std::move(checkpoint)] {
    failpoint("ckpt.before_hand_in");
    hand_in(state, [this](std::string piece) { return membership_.call(std::string(kPutCheckpoint), std::move(piece), kCallTimeout); });
    handed_(state.cursor.step);
  });
}

void Uploader::settle() {
  try {
    finish();
  } catch (const Error&) {  // the same state may be handed in again, in another generation
    position_ = {};
  }
}

}  // namespace trireme::train
