// SPDX-License-Identifier: Apache-2.0
// MPI in this process: loaded where it is used, and only there.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/comm/deadline.h"
#include "trireme/comm/mpi_functions.h"

namespace trireme::comm {

// One a process, as MPI wants it. Not for several threads at once.
class MpiLibrary {
 public:
  // Where the library stands: beside the program, or, where that is installed, in ../lib/trireme.
  static std::filesystem::path file_of(const std::filesystem::path& binary);
  // Loads the library and joins the other processes of mpirun, which must do the same.
  static std::shared_ptr<MpiLibrary> start(const std::filesystem::path& file);
  ~MpiLibrary();  // does not finish: a process that leaves without MPI_Finalize ends the others, too
  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // The first process's text, to all.
  std::string broadcast(std::string text, Seconds timeout);
  // The last call; all processes must make it. After a fault it does nothing.
  void finish();

  // For communicators.
  const MpiFunctions& functions() const { return *functions_; }
  void check(int error, const char* call);  // throws unavailable in MPI's words, and remembers that there was a fault
  bool is_whole() const { return !is_broken_; }
  // Ends with a begun collective; deadline_exceeded after the timeout, cancelled if the deadline's owner says so.
  void wait(void* request, const char* call, const Deadline& deadline);

 private:
  MpiLibrary(void* handle, const MpiFunctions* functions);

  void* handle_;
  const MpiFunctions* functions_;
  int rank_ = 0;
  int size_ = 1;
  bool is_broken_ = false;
};

}  // namespace trireme::comm
