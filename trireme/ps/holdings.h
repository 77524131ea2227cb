// SPDX-License-Identifier: Apache-2.0
// The pieces that a server has: their values, how many updates each had, and whose gradients are in them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "trireme/optim/optimizer.h"
#include "trireme/ps/buffers.h"
#include "trireme/ps/rules.h"
#include "trireme/ps/shard_map.h"

namespace trireme::ps {

// Gradients of one piece. A worker is identified by its seat, which it keeps as long as the server lives, whatever its number.
struct Push {
  std::size_t seat = 0;
  std::uint64_t id = 0;
  std::int64_t version = 0;  // of the values they were computed with
  std::int64_t samples = 0;
  double rate = 0;
  std::int64_t lease = 0;
  std::int64_t half = 0;   // as Lease has it
  std::int64_t first = 0;  // the first lease of its samples
  bool is_void = false;    // it changes nothing; its gradients are not looked at
};

// What can be reported to a worker of its push to a piece.
struct Verdict {
  std::size_t seat = 0;
  std::size_t piece = 0;  // of this server's
  std::uint64_t id = 0;
  bool taken = true;
  bool is_new = true;  // false: it was sent before, but may not have got there
  std::int64_t staleness = 0;
  std::int64_t samples = 0;
  std::int64_t lease = 0;  // the first of its samples; 0 where pushes are summed
  bool is_applied = true;  // false: the piece had the gradient of these samples already
  bool is_void = false;    // the round of the push changed nothing
};

// Pushes to different pieces, and copies of them, may come at the same time.
class Holdings {
 public:
  struct Setup {
    const optim::Optimizer& optimizer;
    const ShardMap& map;
    int server = 0;
    std::span<float> parameters;  // of the whole space
    std::vector<std::span<float>> slots;
  };
  explicit Holdings(Setup setup);

  std::size_t size() const { return pieces_.size(); }
  const Piece& piece(std::size_t index) const { return pieces_[index].piece; }
  std::int64_t values() const { return values_; }    // of all pieces
  std::int64_t largest() const { return largest_; }  // piece, in values
  std::size_t slots() const { return setup_.slots.size(); }
  std::shared_ptr<float[]> take_buffer() { return buffers_->take(); }  // for largest() values

  // Between pushes: every piece has had `updates`; up to `seats` workers are known.
  void begin(const Rules& rules, std::int64_t updates, std::size_t seats);
  // Rounds that are not complete are forgotten, with the pushes in them.
  void regroup(std::size_t seats);

  // The gradients may be changed. Verdicts are added: on this push, unless it has to wait for others, and on those that waited for it.
  void push(std::size_t piece, const Push& push, std::span<float> gradients, std::vector<Verdict>& verdicts);
  // How many pushes make a round, where they are summed. complete_rounds() must follow where it gets smaller.
  void set_needed(std::int64_t pushes) { needed_ = pushes; }
  void complete_rounds(std::vector<Verdict>& verdicts);

  // Whether each piece has the samples of a lease that no worker goes on with, by its push or by that of `half`. A piece that has them
  // takes no push that says it is for those who don't.
  std::vector<bool> close_lease(std::size_t seat, std::int64_t lease, std::int64_t half);

  struct Copy {
    std::shared_ptr<const float[]> memory;
    std::span<const std::byte> bytes;
    std::int64_t version = 0;
  };
  Copy copy(std::size_t piece, int slot, comm::WireType wire);  // as it is now; slot -1: parameters

 private:
  struct Last {  // push of a worker
    std::uint64_t id = 0;
    bool taken = false;
    std::int64_t lease = 0;  // 0: of another stretch
  };
  struct Waiting {
    std::size_t seat = 0;
    std::uint64_t id = 0;
  };
  struct Held {
    Piece piece;
    std::size_t index = 0;
    std::size_t sum = 0;  // where its sums lie
    std::mutex mutex;
    std::int64_t version = 0;
    std::int64_t skipped = 0;          // versions that changed nothing: rounds with a void push
    std::vector<Last> last;            // by seat
    std::vector<Last> before;          // the one before it
    std::vector<std::int64_t> closed;  // leases that are lost and whose samples it has, though others may not
    // The running round:
    std::int64_t samples = 0;
    double rate = 0;
    std::vector<Waiting> waiting;
    std::size_t voids = 0;          // of those that wait
    std::weak_ptr<float[]> copied;  // of this version, as it travels
  };

  void push_alone(Held& held, const Push& push, std::span<float> gradients, Verdict verdict, std::vector<Verdict>& verdicts);
  void push_to_sum(Held& held, const Push& push, std::span<float> gradients, Verdict verdict, std::vector<Verdict>& verdicts);
  void add_to_sum(Held& held, const Push& push, std::span<float> gradients);
  bool is_void(const Held& held) const;
  void complete(Held& held, std::span<float> gradients, std::vector<Verdict>& verdicts);
  void update(Held& held, std::span<const float> gradients, double rate);
  static void clear_round(Held& held);
  static void remember(Held& held, const Push& push, bool taken);
  std::span<float> sum_of(const Held& held);

  Setup setup_;
  Rules rules_;
  std::deque<Held> pieces_;
  std::int64_t values_ = 0;
  std::int64_t largest_ = 0;
  std::vector<float> sums_;  // of all pieces, one after the other; empty where pushes are not summed
  std::atomic<std::int64_t> needed_ = 1;
  std::shared_ptr<Buffers> buffers_;
};

}  // namespace trireme::ps
