// SPDX-License-Identifier: Apache-2.0
// A lock between processes of one machine that share a file; the system releases it when its holder dies.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/base/descriptor.h"

namespace trireme {

// Released when this ends.
class FileLock {
 public:
  FileLock() = default;
  // Of this file, which is made if need be; the first attempt to lock it throws if it can't be.
  explicit FileLock(const std::filesystem::path& path);

  bool is_held() const { return is_held_; }
  bool try_lock();  // false: another process has it
  // For work that is only done twice without the lock: neither waiting in vain nor a folder that can't be written is an error.
  void lock_if_possible(Seconds patience);
  // False: it could not be had within `patience`. `on_wait` is called once, before the first pause.
  bool lock_within(Seconds patience, const std::function<void()>& on_wait = {});
  // The holder's own: replaces what stands in the file.
  void write(std::string_view text);

 private:
  std::filesystem::path path_;
  Descriptor file_;
  int fault_ = 0;  // errno, if it could not be opened
  bool is_held_ = false;
};

// Whether a process holds the lock of this file now.
bool is_locked(const std::filesystem::path& path);

}  // namespace trireme
