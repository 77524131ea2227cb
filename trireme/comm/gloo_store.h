// SPDX-License-Identifier: Apache-2.0
// A Store as Gloo wants it: keys with a prefix, and one deadline for all waits of a rendezvous.
#pragma once

#include <gloo/rendezvous/store.h>

#include <string>
#include <utility>
#include <vector>

#include "trireme/comm/deadline.h"
#include "trireme/comm/store.h"

namespace trireme::comm {

class GlooStore final : public gloo::rendezvous::Store {
 public:
  GlooStore(comm::Store& store, std::string prefix, Deadline deadline) : store_(store), prefix_(std::move(prefix)), deadline_(deadline) {}

  void set(const std::string& key, const std::vector<char>& data) override { store_.set(prefix_ + key, {data.begin(), data.end()}); }

  std::vector<char> get(const std::string& key) override {
    const std::string value = store_.get(prefix_ + key, deadline_.left());
    return {value.begin(), value.end()};
  }

  // `get` waits by itself; Gloo's own timeout is that of its collectives.
  void wait(const std::vector<std::string>& keys) override {
    for (const auto& key : keys) store_.get(prefix_ + key, deadline_.left());
  }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& /*timeout*/) override { wait(keys); }

 private:
  comm::Store& store_;
  std::string prefix_;
  Deadline deadline_;
};

}  // namespace trireme::comm
