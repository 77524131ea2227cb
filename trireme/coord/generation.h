// SPDX-License-Identifier: Apache-2.0
// A numbered, agreed membership: the only truth about who takes part.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::coord {

struct Member {
  std::string node;     // its name, which it keeps over generations
  std::string host;     // the machine as the user calls it
  std::string address;  // by which the others reach it
};

struct Generation {
  std::uint64_t number = 0;     // the first is 1
  std::vector<Member> members;  // in order of ranks
  std::string plan;             // what they are to do; opaque to this module

  int size() const { return static_cast<int>(members.size()); }
  int rank_of(const std::string& node) const;  // -1: it does not take part
};

}  // namespace trireme::coord
