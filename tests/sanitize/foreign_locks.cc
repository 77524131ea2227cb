// SPDX-License-Identifier: Apache-2.0
// Shows the thread sanitizer by what our threads are ordered in libraries that are not instrumented: the locks of Debian's Abseil, by which
// gRPC hands our objects from thread to thread, and the beginning and end of libgomp's parallel regions. Without this every callback and
// every parallel loop looks like a race. Preloaded by scripts/sanitize; the functions stand before the libraries' own of the same names and
// call them.
#include <absl/synchronization/mutex.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): names are those of the sanitizer, of Abseil and of libgomp
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace {

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

// Abseil's own function; `mangled` is what follows the inline namespace, whose name differs between releases of Debian.
template <typename Function>
Function real(const std::string& mangled) {
  const std::string space = TEXT(ABSL_OPTION_INLINE_NAMESPACE_NAME);
  const std::string name = "_ZN4absl" + std::to_string(space.size()) + space + mangled;
  void* const function = ::dlsym(RTLD_NEXT, name.c_str());
  if (function == nullptr) std::abort();        // another Abseil: every finding would be a false one
  return reinterpret_cast<Function>(function);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym is for
}

struct Region {
  void (*function)(void*);
  void* data;
};

void run(void* region) {
  __tsan_acquire(region);
  const auto& [function, data] = *static_cast<Region*>(region);
  function(data);
  __tsan_release(region);
}

using OfMutex = void (*)(absl::Mutex*);

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  static const auto lock = real<OfMutex>("5Mutex4LockEv");
  lock(this);
  __tsan_acquire(this);
}

void Mutex::Unlock() {
  static const auto unlock = real<OfMutex>("5Mutex6UnlockEv");
  __tsan_release(this);
  unlock(this);
}

bool Mutex::TryLock() {
  static const auto try_lock = real<bool (*)(Mutex*)>("5Mutex7TryLockEv");
  const bool locked = try_lock(this);
  if (locked) __tsan_acquire(this);
  return locked;
}

void CondVar::Wait(Mutex* mutex) {
  static const auto wait = real<void (*)(CondVar*, Mutex*)>("7CondVar4WaitEPNS0_5MutexE");
  __tsan_release(mutex);
  wait(this, mutex);
  __tsan_acquire(mutex);
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  static const auto wait = real<bool (*)(CondVar*, Mutex*, Time)>("7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE");
  __tsan_release(mutex);
  const bool late = wait(this, mutex, deadline);
  __tsan_acquire(mutex);
  return late;
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  static const auto wait = real<bool (*)(CondVar*, Mutex*, Duration)>("7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE");
  __tsan_release(mutex);
  const bool late = wait(this, mutex, timeout);
  __tsan_acquire(mutex);
  return late;
}

ABSL_NAMESPACE_END
}  // namespace absl

extern "C" void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  static const auto parallel =
      reinterpret_cast<void (*)(void (*)(void*), void*, unsigned, unsigned)>(  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
          ::dlsym(RTLD_NEXT, "GOMP_parallel"));
  Region region{function, data};
  __tsan_release(&region);
  parallel(run, &region, threads, flags);
  __tsan_acquire(&region);
}

extern "C" void GOMP_barrier() {
  static const auto barrier =
      reinterpret_cast<void (*)()>(::dlsym(RTLD_NEXT, "GOMP_barrier"));  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  static char all;
  __tsan_release(&all);
  barrier();
  __tsan_acquire(&all);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
