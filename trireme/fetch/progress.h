// SPDX-License-Identifier: Apache-2.0
// What a fetch reports while it works.
#pragma once

#include <cstdint>
#include <string_view>

namespace trireme::fetch {

class Progress {
 public:
  virtual ~Progress() = default;

  virtual void trying(std::string_view /*source*/) {}
  // `total` is 0 while it is unknown. Called many times a second.
  virtual void received(std::string_view /*file*/, std::int64_t /*bytes*/, std::int64_t /*total*/) {}
  virtual void refused(std::string_view /*source*/, std::string_view /*why*/) {}
  virtual void unpacking(std::string_view /*file*/) {}
  virtual void verified(std::string_view /*file*/, std::int64_t /*bytes*/) {}
  // Another process fetches the same set.
  virtual void waiting() {}
};

}  // namespace trireme::fetch
