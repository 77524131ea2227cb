// SPDX-License-Identifier: Apache-2.0
// A small file system that can be full, have no room for another name, or be read-only.
#pragma once

#include <fmt/format.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::tests {

// A file system of its own, gone with this object. Needs root.
class SmallDisk {
 public:
  SmallDisk(std::filesystem::path place, int megabytes, int inodes = 0) : place_(std::move(place)) {
    make_directories(place_);
    const std::string limits = fmt::format("size={}m{}", megabytes, inodes == 0 ? "" : fmt::format(",nr_inodes={}", inodes));
    if (::mount("tmpfs", place_.c_str(), "tmpfs", 0, limits.c_str()) != 0)
      throw Error{failed_precondition, "can't mount a tmpfs on {}: {}; this test needs root", place_.string(), std::strerror(errno)};
  }
  ~SmallDisk() { ::umount2(place_.c_str(), MNT_DETACH); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // Called again, it fills what has become free since.
  void fill() const {
    OutputFile file(place_ / "filler", OutputFile::Mode::append);
    const std::string block(4096, 'x');
    try {
      for (;;) file.write(block);
    } catch (const Error&) {  // full
    }
  }
  void free() const { std::filesystem::remove(place_ / "filler"); }
  // As a kernel does with a disk that fails. Files that are open for writing stay writable on a real one; here they must not be there.
  void make_read_only() const { remount(MS_RDONLY); }
  void make_writable() const { remount(0); }
  const std::filesystem::path& place() const { return place_; }

 private:
  void remount(unsigned long flags) const {
    if (::mount("tmpfs", place_.c_str(), "tmpfs", MS_REMOUNT | flags, nullptr) != 0)
      throw Error{failed_precondition, "can't remount {}: {}", place_.string(), std::strerror(errno)};
  }

  std::filesystem::path place_;
};

}  // namespace trireme::tests
