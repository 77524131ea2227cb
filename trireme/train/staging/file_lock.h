// SPDX-License-Identifier: Apache-2.0
// A lock between processes of one machine that share a folder.
#pragma once

#include <filesystem>

#include "trireme/base/clock.h"

namespace trireme::train {

// Taken if it can be had within `patience`; given back when this ends or the process dies. Only to save work twice done:
// whoever doesn't get it goes on without.
class FileLock {
 public:
  FileLock(const std::filesystem::path& path, Seconds patience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool held() const { return held_; }

 private:
  int fd_;
  bool held_ = false;
};

}  // namespace trireme::train
