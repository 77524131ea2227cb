// SPDX-License-Identifier: Apache-2.0
// Where the members of a group leave their addresses for each other: the coordinator's over RPC, or one in memory for threads of a test.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "trireme/base/clock.h"

namespace trireme::comm {

// All calls may come from any thread.
class Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  // Waits until a member has set the key; deadline_exceeded names it.
  virtual std::string get(const std::string& key, Seconds timeout) = 0;
};

class MemoryStore final : public Store {
 public:
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, Seconds timeout) override;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

}  // namespace trireme::comm
