// SPDX-License-Identifier: Apache-2.0
// A certificate authority for one job: made when the job starts, forgotten when it ends.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/rpc/credentials.h"

namespace trireme::rpc {

// ECDSA on P-256. Its own key never leaves it.
class Authority {
 public:
  static Authority create();
  // The same authority for all who know the secret (16 bytes at least), for launches where no node can hand out certificates.
  // A process that knows it can also pose as the coordinator.
  static Authority from_secret(std::string_view secret);
  ~Authority();
  Authority(Authority&&) noexcept;
  Authority& operator=(Authority&&) noexcept;

  // A certificate for a new key. `hosts` are addresses and names of the machine. Clocks may be behind by kClockSlack, ahead by `slack`.
  Credentials issue(const Identity& identity, const std::vector<std::string>& hosts, Seconds validity, Seconds slack = kClockSlack) const;
  const std::string& certificate() const;  // the authority's own, as a PEM text

  static constexpr Seconds kClockSlack{6 * 3600.0};

 private:
  struct State;
  explicit Authority(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trireme::rpc
