// SPDX-License-Identifier: Apache-2.0
// What libtrireme_mpi.so has for us. It alone is linked with MPI, so that the program runs where there is none.
#pragma once

#include <cstddef>

namespace trireme::comm {

enum class MpiElement { f32, f64 };

// Functions return MPI's error code, 0 if all is well. Collectives only begin; they are through when `test` says so, and until then their
// memory is MPI's.
struct MpiFunctions {
  int version = 0;  // kMpiVersion, or program and library are of different builds

  int (*start)(int* rank, int* size) = nullptr;
  int (*finish)() = nullptr;
  // Of all processes, in order of the ranks they name; collective.
  int (*split)(int rank, void** group) = nullptr;
  void (*release)(void* group) = nullptr;

  int (*sum)(void* group, void* values, std::size_t count, MpiElement element, void** request) = nullptr;
  int (*broadcast)(void* group, void* bytes, std::size_t count, int root, void** request) = nullptr;
  int (*gather)(void* group, const double* mine, std::size_t count, double* all, void** request) = nullptr;
  int (*barrier)(void* group, void** request) = nullptr;  // without a group: of all processes
  int (*test)(void* request, int* done) = nullptr;        // a request that is done is gone

  void (*describe)(int error, char* text, std::size_t room) = nullptr;
};

constexpr int kMpiVersion = 2;
// MPI counts with int; more is done in pieces.
constexpr std::size_t kMpiMost = std::size_t{1} << 30;

// The one symbol of the library.
constexpr const char* kMpiSymbol = "trireme_mpi_functions";
using MpiSymbol = const MpiFunctions* (*)();

}  // namespace trireme::comm
