// SPDX-License-Identifier: Apache-2.0
// A store in a folder, for processes of one machine that share nothing else.
#pragma once

#include <filesystem>
#include <string>

#include "trireme/comm/store.h"

namespace trireme::comm {

class FolderStore final : public Store {
 public:
  explicit FolderStore(std::filesystem::path folder);  // must exist

  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, Seconds timeout) override;  // looks every few milliseconds

 private:
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
};

}  // namespace trireme::comm
