// SPDX-License-Identifier: Apache-2.0
// A key in the store says that the first is through.
#include "trireme/train/node/compile_turn.h"

#include <algorithm>

namespace trireme::train {
namespace {

constexpr Seconds kCompileTimeout{600};

void await_compiler(coord::Membership& membership, int rank, const std::string& key) {
  const auto noted = membership.peer_wait();
  const comm::PeerWait::Scope waits(noted.get(), rank);
  try {
    membership.store().get(key, kCompileTimeout);
  } catch (const Error&) {  // thrown again: only the missed peer is noted
    noted->on_missed(rank);
    throw;
  }
}

}  // namespace

void compile_in_turn(coord::Membership& membership, const coord::Generation& generation, const std::function<void()>& compile) {
  const int rank = generation.rank_of(membership.node());
  const std::string& host = generation.members[static_cast<std::size_t>(rank)].host;
  const auto first = static_cast<int>(std::ranges::find(generation.members, host, &coord::Member::host) - generation.members.begin());
  const std::string key = fmt::format("compiled/{}", first);
  if (first != rank) await_compiler(membership, first, key);
  compile();
  if (first == rank) membership.store().set(key, "yes");
}

}  // namespace trireme::train
