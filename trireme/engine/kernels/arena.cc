// SPDX-License-Identifier: Apache-2.0
// One mapping that holds every buffer of an executor.
#include "trireme/engine/kernels/arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/table.h"

namespace trireme::engine {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

Arena::Arena(std::size_t bytes) : bytes_((bytes + kHugePage - 1) / kHugePage * kHugePage) {
  if (bytes_ == 0) return;
  // Map a huge page more than needed and give the ends back, so that the rest begins at one.
  const std::size_t mapped = bytes_ + kHugePage;
  void* address = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    throw Error{resource_exhausted, "cannot map {} for activations: {}; use a smaller batch", human_bytes(static_cast<double>(bytes_)),
                std::strerror(errno)};
  auto* begin = static_cast<std::byte*>(address);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  data_ = begin + before;
  if (before > 0) ::munmap(begin, before);
  if (before < kHugePage) ::munmap(data_ + bytes_, kHugePage - before);
  ::madvise(data_, bytes_, MADV_HUGEPAGE);
}

Arena::~Arena() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

Arena::Arena(Arena&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace trireme::engine
