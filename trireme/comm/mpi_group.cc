// SPDX-License-Identifier: Apache-2.0
// Collectives by MPI's non-blocking calls, so that each wait has a timeout.
#include "trireme/comm/mpi_group.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::comm {
namespace {

constexpr double kSlowestBytes = 4e6;  // a second, of the slowest network that one would train over

}  // namespace

MpiGroup::MpiGroup(MpiLibrary& library, int rank, int size, Seconds timeout, const Cancellation* cancellation)
    : library_(library), cancellation_(cancellation) {
  if (!library_.is_whole())
    throw Error{failed_precondition, "MPI can't go on after a fault; continue the run with --resume under a new mpirun"};
  if (size != library_.size())
    throw Error{failed_precondition, "mpirun started {} processes, but {} are to train; MPI can't go on without some of them",
                library_.size(), size};
  barrier(timeout);  // of all processes: a split waits for the last of them and can't be given up
  library_.check(library_.functions().split(rank, &group_), "MPI_Comm_split");
}

// After a fault a collective may still be under way, and MPI would wait for it.
MpiGroup::~MpiGroup() {
  if (library_.is_whole()) library_.functions().release(group_);
}

void MpiGroup::wait(void* request, const char* call, Seconds timeout) { library_.wait(request, call, Deadline(timeout, cancellation_)); }

template <class Value, class Begin>
void MpiGroup::in_pieces(std::span<Value> values, const char* call, Seconds timeout, const Begin& begin) {
  while (!values.empty()) {
    const auto piece = values.first(std::min(values.size(), kMpiMost));
    values = values.subspan(piece.size());
    void* request = nullptr;
    library_.check(begin(piece, &request), call);
    wait(request, call, timeout + Seconds(static_cast<double>(piece.size_bytes()) / kSlowestBytes));
  }
}

void MpiGroup::all_reduce(std::span<float> values, Seconds timeout) {
  in_pieces(values, "MPI_Iallreduce", timeout, [this](std::span<float> piece, void** request) {
    return library_.functions().sum(group_, piece.data(), piece.size(), MpiElement::f32, request);
  });
}

void MpiGroup::all_reduce(std::span<double> values, Seconds timeout) {
  in_pieces(values, "MPI_Iallreduce", timeout, [this](std::span<double> piece, void** request) {
    return library_.functions().sum(group_, piece.data(), piece.size(), MpiElement::f64, request);
  });
}

void MpiGroup::broadcast(std::span<std::byte> bytes, int root, Seconds timeout) {
  in_pieces(bytes, "MPI_Ibcast", timeout, [this, root](std::span<std::byte> piece, void** request) {
    return library_.functions().broadcast(group_, piece.data(), piece.size(), root, request);
  });
}

void MpiGroup::all_gather(std::span<const double> mine, std::span<double> all, Seconds timeout) {
  ensure(mine.size() <= kMpiMost, "gathered values are few");
  void* request = nullptr;
  library_.check(library_.functions().gather(group_, mine.data(), mine.size(), all.data(), &request), "MPI_Iallgather");
  wait(request, "MPI_Iallgather", timeout);
}

void MpiGroup::barrier(Seconds timeout) {
  void* request = nullptr;
  library_.check(library_.functions().barrier(group_, &request), "MPI_Ibarrier");
  wait(request, "MPI_Ibarrier", timeout);
}

}  // namespace trireme::comm
