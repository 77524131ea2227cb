// SPDX-License-Identifier: Apache-2.0
// A table of digests, a line a file.
#include "trireme/train/staging/file_digests.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <sstream>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::train {
namespace {

constexpr std::size_t kMaxRemembered = 2'000'000;
constexpr std::uintmax_t kMaxMemory = 512 << 20;
constexpr std::size_t kDigestLength = 64;

std::map<FileIdentity, std::string> remembered(const std::filesystem::path& memory) {
  std::map<FileIdentity, std::string> out;
  if (memory.empty() || !std::filesystem::exists(memory)) return out;
  std::istringstream lines(read_file(memory, kMaxMemory));
  FileIdentity identity;
  std::string digest;
  while (lines >> digest >> identity.device >> identity.inode >> identity.modified >> identity.size)
    if (digest.size() == kDigestLength) out[identity] = digest;
  return out;
}

}  // namespace

FileIdentity identity_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_system_error(errno, fmt::format("find {}", path.string()));
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .modified = status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec,
          .size = static_cast<std::uint64_t>(status.st_size)};
}

std::string boot_of_machine() {
  std::string boot = read_file("/proc/sys/kernel/random/boot_id");
  while (!boot.empty() && boot.back() == '\n') boot.pop_back();
  return boot;
}

FileDigests::FileDigests(std::filesystem::path memory) : memory_(std::move(memory)) {
  try {
    known_ = remembered(memory_);
  } catch (const Error&) {  // only a memory: what it does not know is computed again
    known_.clear();
  }
}

std::string FileDigests::sha256(const std::filesystem::path& path) {
  const FileIdentity before = identity_of(path);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(before); found != known_.end()) return found->second;
  }
  std::string digest = digest_of_file(Digest::Kind::sha256, path);
  if (identity_of(path) != before)
    throw Error{data_loss, "{} changes while it is read: start the job when no process writes to it", path.string()};
  const std::lock_guard lock(mutex_);
  known_[before] = digest;
  changed_ = true;
  return digest;
}

void FileDigests::add(const std::filesystem::path& path, const std::string& digest) {
  const FileIdentity identity = identity_of(path);
  const std::lock_guard lock(mutex_);
  known_[identity] = digest;
  changed_ = true;
}

void FileDigests::save() {
  const std::lock_guard lock(mutex_);
  if (memory_.empty() || !changed_) return;
  if (known_.size() > kMaxRemembered) known_.clear();
  for (auto& [identity, digest] : remembered(memory_)) known_.emplace(identity, digest);  // what others have added meanwhile
  fmt::memory_buffer text;
  for (const auto& [identity, digest] : known_)
    fmt::format_to(std::back_inserter(text), "{} {} {} {} {}\n", digest, identity.device, identity.inode, identity.modified, identity.size);
  write_file_atomically(memory_, {text.data(), text.size()});
  changed_ = false;
}

}  // namespace trireme::train
