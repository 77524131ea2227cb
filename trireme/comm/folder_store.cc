// SPDX-License-Identifier: Apache-2.0
// One file a key, written atomically.
#include "trireme/comm/folder_store.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/comm/deadline.h"

namespace trireme::comm {
namespace {

constexpr std::chrono::milliseconds kLook{2};

}  // namespace

FolderStore::FolderStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

std::filesystem::path FolderStore::file_of(const std::string& key) const {
  std::string name = key;
  std::ranges::replace(name, '/', '_');
  return folder_ / name;
}

void FolderStore::set(const std::string& key, const std::string& value) { write_file_atomically(file_of(key), value); }

std::string FolderStore::get(const std::string& key, Seconds timeout) {
  const Deadline deadline(timeout);
  const auto file = file_of(key);
  while (!std::filesystem::exists(file)) {
    if (deadline.passed()) throw Error{deadline_exceeded, "no member has set '{}' within {:g} s", key, timeout.count()};
    std::this_thread::sleep_for(kLook);
  }
  return read_file(file);
}

}  // namespace trireme::comm
