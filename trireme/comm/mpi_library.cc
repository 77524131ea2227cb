// SPDX-License-Identifier: Apache-2.0
// Loads libtrireme_mpi.so when mpirun started this process, and waits by polling.
#include "trireme/comm/mpi_library.h"

#include <dlfcn.h>

#include <array>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/comm/deadline.h"
#include "trireme/comm/mpi_group.h"

namespace trireme::comm {

std::filesystem::path MpiLibrary::file_of(const std::filesystem::path& binary) {
  constexpr const char* kName = "libtrireme_mpi.so";
  const std::filesystem::path folder = binary.parent_path();
  const std::filesystem::path installed = folder.parent_path() / "lib" / "trireme" / kName;
  return !std::filesystem::exists(folder / kName) && std::filesystem::exists(installed) ? installed : folder / kName;
}

std::shared_ptr<MpiLibrary> MpiLibrary::start(const std::filesystem::path& file) {
  // Global, because MPI loads parts of itself that look for its symbols.
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr)
    throw Error{failed_precondition,
                "MPI can't be loaded: {}; it is in the package trireme-mpi, or made by a build where MPI's development files "
                "are (libopenmpi-dev)",
                ::dlerror()};
  const auto symbol = reinterpret_cast<MpiSymbol>(::dlsym(handle, kMpiSymbol));
  const MpiFunctions* functions = symbol == nullptr ? nullptr : symbol();
  if (functions == nullptr || functions->version != kMpiVersion)
    throw Error{failed_precondition, "{} is of another build than this program; build both again", file.string()};
  std::shared_ptr<MpiLibrary> library(new MpiLibrary(handle, functions));
  library->check(functions->start(&library->rank_, &library->size_), "MPI_Init_thread");
  return library;
}

MpiLibrary::MpiLibrary(void* handle, const MpiFunctions* functions) : handle_(handle), functions_(functions) {}

MpiLibrary::~MpiLibrary() {
  static_cast<void>(handle_);  // MPI does not survive dlclose: its threads and exit handlers would be left without code
}

std::string MpiLibrary::broadcast(std::string text, Seconds timeout) {
  MpiGroup all(*this, rank_, size_, timeout);
  std::uint64_t length = text.size();
  all.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0, timeout);
  text.resize(length);
  all.broadcast(std::as_writable_bytes(std::span(text)), 0, timeout);
  return text;
}

void MpiLibrary::finish() {
  if (!is_broken_) check(functions_->finish(), "MPI_Finalize");
}

void MpiLibrary::check(int error, const char* call) {
  if (error == 0) return;
  is_broken_ = true;
  std::array<char, 512> words{};
  functions_->describe(error, words.data(), words.size());
  throw Error{unavailable, "{}: {}", call, words.data()};
}

// MPI moves data only while it is being asked. The first moments are spent asking, for speed; after them others, such as the computation
// that goes on meanwhile, need the core more. sched_yield is no way to give it to them: on a busy machine each call costs a time slice.
void MpiLibrary::wait(void* request, const char* call, const Deadline& deadline) {
  constexpr Seconds kEager{30e-6};
  constexpr auto kPause = std::chrono::microseconds(20);
  const SteadyClock clock;
  const Seconds start = clock.now();
  is_broken_ = true;  // until it is through: a collective that is given up stays under way, and nothing else can be done with MPI
  while (true) {
    int done = 0;
    check(functions_->test(request, &done), call);
    if (done != 0) break;
    if (clock.now() - start < kEager) continue;
    std::this_thread::sleep_for(kPause);
    deadline.check_cancellation();
    if (deadline.passed())
      throw Error{deadline_exceeded, "{} is not through in its time: a process of mpirun is stuck, or the network is too slow", call};
  }
  is_broken_ = false;
}

}  // namespace trireme::comm
