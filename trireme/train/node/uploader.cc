// SPDX-License-Identifier: Apache-2.0
// A thread that hands in one checkpoint after another.
#include "trireme/train/node/uploader.h"

#include <chrono>
#include <string>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"
#include "trireme/train/messages/checkpoint_transfer.h"
#include "trireme/train/messages/reports.h"

namespace trireme::train {
namespace {

constexpr Seconds kCallTimeout{30};
constexpr int kMaxCalls = 30;  // 15 minutes

}  // namespace

void Uploader::begin(Checkpoint checkpoint) {
  if (checkpoint.position() == position_) return;
  settle();
  position_ = checkpoint.position();
  running_ = std::async(std::launch::async, [this, state = std::move(checkpoint)] {
    failpoint("ckpt.before_hand_in");
    const auto generation = static_cast<std::uint64_t>(state.generation);
    if (hand_in(state, [this, generation](const std::string& piece) { return put(piece, generation); })) handed_(state.cursor.step);
  });
}

// A coordinator that is there, and does not answer, waits for its disk: it tells the user. A piece may be sent again.
std::string Uploader::put(const std::string& piece, std::uint64_t generation) {
  for (int calls = 1;; ++calls) {
    try {
      return membership_.call(std::string(kPutCheckpoint), piece, kCallTimeout);
    } catch (const Error& error) {  // only that it took too long, while nothing else has changed
      const bool is_over = membership_.end() || membership_.dismissed() || membership_.announced() > generation;
      if (error.code() != deadline_exceeded || is_over || calls == kMaxCalls) throw;
    }
  }
}

bool Uploader::is_busy() const { return running_.valid() && running_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout; }

void Uploader::settle() {
  try {
    finish();
  } catch (const Error&) {  // the same state may be handed in again, in another generation
    position_ = {};
  }
}

}  // namespace trireme::train
