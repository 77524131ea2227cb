// SPDX-License-Identifier: Apache-2.0
// MPI's collectives for a communicator: all processes of mpirun, in the order of the generation's ranks.
#pragma once

#include <cstddef>
#include <span>

#include "trireme/base/clock.h"
#include "trireme/comm/cancellation.h"
#include "trireme/comm/mpi_library.h"

namespace trireme::comm {

// A timeout is for the whole call, with time for its bytes on top: MPI does not report whether anything moves.
class MpiGroup {
 public:
  // Collective; `size` must be that of all processes: MPI ends the others when one is gone. Library and cancellation
  // must outlive it.
  MpiGroup(MpiLibrary& library, int rank, int size, Seconds timeout, const Cancellation* cancellation = nullptr);
  ~MpiGroup();
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;

  void all_reduce(std::span<float> values, Seconds timeout);
  void all_reduce(std::span<double> values, Seconds timeout);
  void broadcast(std::span<std::byte> bytes, int root, Seconds timeout);
  void all_gather(std::span<const double> mine, std::span<double> all, Seconds timeout);
  void barrier(Seconds timeout);

 private:
  template <class Value, class Begin>
  void in_pieces(std::span<Value> values, const char* call, Seconds timeout, const Begin& begin);

  void wait(void* request, const char* call, Seconds timeout);

  MpiLibrary& library_;
  const Cancellation* cancellation_;
  void* group_ = nullptr;
};

}  // namespace trireme::comm
