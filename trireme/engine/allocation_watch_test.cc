// SPDX-License-Identifier: Apache-2.0
// Replaces operator new of the test program by one that watches; in a file of its own, so that nothing is inlined.
#include "trireme/engine/testing/allocation_watch.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> largest{0};

}  // namespace

void* operator new(std::size_t bytes) {
  std::size_t seen = largest.load();
  while (bytes > seen && !largest.compare_exchange_weak(seen, bytes)) {
  }
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace trireme::engine {

void reset_largest_allocation() { largest = 0; }
std::size_t largest_allocation() { return largest.load(); }

}  // namespace trireme::engine
