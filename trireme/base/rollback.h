// SPDX-License-Identifier: Apache-2.0
// What must be undone if a function is left by an exception.
#pragma once

#include <utility>

namespace trireme {

// Runs `undo` when it ends, unless keep() was called: the last line of what succeeded. `undo` must not throw.
template <class Undo>
class Rollback {
 public:
  explicit Rollback(Undo undo) : undo_(std::move(undo)) {}
  ~Rollback() {
    if (!is_kept_) undo_();
  }
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;

  void keep() { is_kept_ = true; }

 private:
  Undo undo_;
  bool is_kept_ = false;
};

}  // namespace trireme
