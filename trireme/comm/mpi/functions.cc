// SPDX-License-Identifier: Apache-2.0
// libtrireme_mpi.so: the few functions of MPI that a communicator needs, each in one call.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "trireme/comm/mpi_functions.h"

namespace trireme::comm {
namespace {

MPI_Comm comm_of(void* group) { return *static_cast<MPI_Comm*>(group); }

int start(int* rank, int* size) {
  int provided = 0;
  // One thread at a time, but not always the same one: gradients are exchanged behind the computation's back.
  int fault = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  if (fault != MPI_SUCCESS) return fault;
  if (provided < MPI_THREAD_SERIALIZED) return MPI_ERR_OTHER;
  fault = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (fault == MPI_SUCCESS) fault = MPI_Comm_rank(MPI_COMM_WORLD, rank);
  if (fault == MPI_SUCCESS) fault = MPI_Comm_size(MPI_COMM_WORLD, size);
  return fault;
}

int finish() { return MPI_Finalize(); }

int split(int rank, void** group) {
  auto comm = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  const int fault = MPI_Comm_split(MPI_COMM_WORLD, 0, rank, comm.get());
  if (fault == MPI_SUCCESS) *group = comm.release();
  return fault;
}

void release(void* group) {
  const std::unique_ptr<MPI_Comm> comm(static_cast<MPI_Comm*>(group));
  int finished = 0;
  MPI_Finalized(&finished);
  if (finished == 0) MPI_Comm_free(comm.get());
}

// Runs a non-blocking call that fills a request.
template <class Call>
int begin(void** request, const Call& call) {
  auto own = std::make_unique<MPI_Request>(MPI_REQUEST_NULL);
  const int fault = call(own.get());
  if (fault == MPI_SUCCESS) *request = own.release();
  return fault;
}

int sum(void* group, void* values, std::size_t count, MpiElement element, void** request) {
  return begin(request, [&](MPI_Request* own) {
    return MPI_Iallreduce(MPI_IN_PLACE, values, static_cast<int>(count), element == MpiElement::f32 ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM,
                          comm_of(group), own);
  });
}

int broadcast(void* group, void* bytes, std::size_t count, int root, void** request) {
  return begin(request, [&](MPI_Request* own) { return MPI_Ibcast(bytes, static_cast<int>(count), MPI_BYTE, root, comm_of(group), own); });
}

int gather(void* group, const double* mine, std::size_t count, double* all, void** request) {
  return begin(request, [&](MPI_Request* own) {
    return MPI_Iallgather(mine, static_cast<int>(count), MPI_DOUBLE, all, static_cast<int>(count), MPI_DOUBLE, comm_of(group), own);
  });
}

int barrier(void* group, void** request) {
  return begin(request, [&](MPI_Request* own) { return MPI_Ibarrier(group == nullptr ? MPI_COMM_WORLD : comm_of(group), own); });
}

int test(void* request, int* done) {
  auto* own = static_cast<MPI_Request*>(request);
  const int fault = MPI_Test(own, done, MPI_STATUS_IGNORE);
  if (fault == MPI_SUCCESS && *done != 0) delete own;
  return fault;
}

void describe(int error, char* text, std::size_t room) {
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  int length = 0;
  MPI_Error_string(error, words.data(), &length);
  const std::size_t kept = std::min(room - 1, static_cast<std::size_t>(length));
  std::memcpy(text, words.data(), kept);
  text[kept] = '\0';
}

}  // namespace
}  // namespace trireme::comm

extern "C" const trireme::comm::MpiFunctions* trireme_mpi_functions() {
  using namespace trireme::comm;
  static constexpr MpiFunctions kFunctions{.version = kMpiVersion,
                                           .start = start,
                                           .finish = finish,
                                           .split = split,
                                           .release = release,
                                           .sum = sum,
                                           .broadcast = broadcast,
                                           .gather = gather,
                                           .barrier = barrier,
                                           .test = test,
                                           .describe = describe};
  return &kFunctions;
}
