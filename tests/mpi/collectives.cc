// SPDX-License-Identifier: Apache-2.0
// A process of mpirun that checks MPI's collectives behind our communicator: right sums, and the same bits at every rank, every time.
//   mpirun -n 3 mpi_collectives LIBRARY
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string_view>
#include <thread>
#include <vector>

#include "trireme/base/crc32c.h"
#include "trireme/base/error.h"
#include "trireme/comm/communicator.h"
#include "trireme/comm/mpi_library.h"

namespace {

using trireme::Error;
using trireme::Seconds;
using namespace trireme::comm;

constexpr Seconds kTimeout{60};

float value_of(int rank, std::size_t i) { return std::sin(static_cast<float>(i) * 0.37F + static_cast<float>(rank)) * 3; }

void expect(bool holds, const std::string& what) {
  if (!holds) throw Error{trireme::internal, "{}", what};
}

double checksum(const std::vector<float>& values) {
  return trireme::crc32c({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

std::vector<float> reduced(Communicator& communicator, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(communicator.rank(), i);
  communicator.all_reduce(values, {}, kTimeout);
  return values;
}

void check_sum(Communicator& communicator, std::size_t count) {
  const std::vector<float> values = reduced(communicator, count);
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int rank = 0; rank < communicator.size(); ++rank) sum += value_of(rank, i);
    expect(std::abs(values[i] - sum) < 1e-5, fmt::format("element {} of {}: {} is not {}", i, count, values[i], sum));
  }
  const double mine = checksum(values);
  std::vector<double> all(static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(std::span(&mine, 1), all, kTimeout);
  for (const double other : all) expect(other == mine, fmt::format("{} values: ranks have different bits", count));
  expect(checksum(reduced(communicator, count)) == mine, fmt::format("{} values: other bits the second time", count));
}

void check_others(Communicator& communicator) {
  std::vector<double> doubles{1.0 + communicator.rank(), 0.5};
  communicator.all_reduce(std::span(doubles), kTimeout);
  const double size = communicator.size();
  expect(doubles == std::vector<double>{size * (size + 1) / 2, size / 2}, "sums of doubles");
  for (int root = 0; root < communicator.size(); ++root) {
    std::vector<std::byte> bytes(100003, static_cast<std::byte>(communicator.rank()));
    communicator.broadcast(bytes, root, kTimeout);
    expect(bytes == std::vector<std::byte>(100003, static_cast<std::byte>(root)), "broadcast");
  }
  communicator.barrier(kTimeout);
}

// Ranks of a generation may be in another order than MPI's.
void check_order(const std::shared_ptr<MpiLibrary>& mpi) {
  MemoryStore nowhere;
  const int rank = mpi->size() - 1 - mpi->rank();
  auto backwards = Communicator::connect(nowhere, {.rank = rank, .size = mpi->size(), .mpi = mpi}, kTimeout);
  const double mine = rank;
  std::vector<double> all(static_cast<std::size_t>(mpi->size()));
  backwards.all_gather(std::span(&mine, 1), all, kTimeout);
  std::vector<double> expected(all.size());
  std::iota(expected.begin(), expected.end(), 0.0);
  expect(all == expected, "order of ranks");
}

// Rank 0 never comes to the meeting.
void check_late(const std::shared_ptr<MpiLibrary>& mpi) {
  if (mpi->rank() == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    return;
  }
  MemoryStore nowhere;
  try {
    Communicator::connect(nowhere, {.rank = mpi->rank(), .size = mpi->size(), .mpi = mpi}, Seconds(0.5));
  } catch (const Error& error) {
    expect(error.code() == trireme::deadline_exceeded, error.what());
    return;
  }
  throw Error{trireme::internal, "a meeting that one never came to was held"};
}

void check_timeout(const std::shared_ptr<MpiLibrary>& mpi) {
  MemoryStore nowhere;
  auto communicator = Communicator::connect(nowhere, {.rank = mpi->rank(), .size = mpi->size(), .mpi = mpi}, kTimeout);
  if (mpi->rank() == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    return;
  }
  try {
    communicator.barrier(Seconds(0.5));
  } catch (const Error& error) {
    expect(error.code() == trireme::deadline_exceeded, error.what());
    return;
  }
  throw Error{trireme::internal, "a barrier that one never came to was passed"};
}

void check_all(const std::shared_ptr<MpiLibrary>& mpi) {
  expect(mpi->broadcast(mpi->rank() == 0 ? "a secret" : "", kTimeout) == "a secret", "the first text");
  check_order(mpi);
  MemoryStore nowhere;
  auto communicator = Communicator::connect(nowhere, {.rank = mpi->rank(), .size = mpi->size(), .mpi = mpi}, kTimeout);
  for (const std::size_t count : {1U, 2U, 3U, 7U, 64U, 1000U, 12345U, 50000U, 300001U, 1500000U}) check_sum(communicator, count);
  check_others(communicator);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto mpi = MpiLibrary::start(argv[1]);
    check_all(mpi);
    if (argc > 2) {
      std::string_view(argv[2]) == "late" ? check_late(mpi) : check_timeout(mpi);
      if (mpi->rank() != 0) fmt::print("gave up in time\n");
      std::fflush(stdout);
      std::_Exit(0);  // MPI would wait for the barrier
    }
    mpi->finish();
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
