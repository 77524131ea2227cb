// SPDX-License-Identifier: Apache-2.0
// Gloo's collectives over a proven mesh, with our sums and our errors.
#include "trireme/comm/communicator.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/direct.h"
#include "trireme/comm/gloo_transport.h"
#include "trireme/comm/links.h"
#include "trireme/comm/mesh.h"
#include "trireme/comm/mpi_group.h"
#include "trireme/comm/reduction.h"

namespace trireme::comm {
namespace {

template <class T, auto Reductions::*kAdd>
void reduce(void* sum, const void* a, const void* b, std::size_t count) {
  (reductions().*kAdd)(static_cast<T*>(sum), static_cast<const T*>(a), static_cast<const T*>(b), count);
}

using Reduction = void (*)(void*, const void*, const void*, std::size_t);

// When all members send to all at once a switch's buffers overflow: 8 hosts with 100 Mbit/s took 10-20 % longer than a ring, which has one
// sender for each receiver, at 1 MB and more; 2 and 4 hosts with 1 Gbit/s did not. Where between them the line runs was not measured.
constexpr int kManyMembers = 6;
constexpr std::size_t kManyBytes = 256 << 10;

bool suits_ring(int members, std::size_t bytes) { return members >= kManyMembers && bytes >= kManyBytes; }

gloo::AllreduceOptions::Algorithm gloo_algorithm(Algorithm algorithm) {
  using Gloo = gloo::detail::AllreduceOptionsImpl;
  return algorithm == Algorithm::halving_doubling ? Gloo::BCUBE : Gloo::RING;
}

void check_mpi_can(const Communicator::Reduce& how) {
  if (how.wire != WireType::f32)
    throw Error{unimplemented, "under mpirun gradients are sent as f32; leave out wire, or start the nodes without MPI"};
  if (how.algorithm != Algorithm::automatic)
    throw Error{unimplemented, "under mpirun MPI chooses how to sum; leave out algorithm, or start the nodes without MPI"};
}

}  // namespace

struct Communicator::State {
  State(const Group& group, std::vector<Connection> connections)
      : cancellation(group.cancellation),
        waits(group.waits),
        traffic(group.traffic),
        links(group.rank, std::move(connections), cancellation.get(), {group.spans, group.generation}),
        gloo(gloo_context(links)),
        direct(links) {
    links.note_waits(waits.get());
    links.count_in(traffic.get());
  }

  std::shared_ptr<const Cancellation> cancellation;
  std::shared_ptr<PeerWait> waits;
  std::shared_ptr<TrafficCounter> traffic;
  Links links;
  std::shared_ptr<gloo::Context> gloo;
  DirectReduction direct;
  std::shared_ptr<MpiLibrary> mpi_library;
  std::optional<MpiGroup> mpi;             // instead of links
  std::optional<Error> fault;              // the first; every later call repeats it
  std::vector<std::uint16_t> wire_values;  // kept, so that steps don't allocate

  template <class Collective>
  void run(Seconds timeout, Collective collective) {
    if (fault) throw Error{*fault};
    links.set_patience(timeout);
    try {
      collective();
    } catch (const Error& thrown) {  // only noted: every later collective throws the same
      fault = thrown;
      throw;
    } catch (const std::exception& thrown) {  // a foreign exception (Gloo's) becomes an Error
      links.close();
      fault = Error{internal, "Gloo refuses a collective: {}", thrown.what()};
      throw Error{*fault};
    }
  }

  template <class T>
  void all_reduce(std::span<T> values, Algorithm algorithm, Reduction reduction, Seconds timeout) {
    gloo::AllreduceOptions options(gloo);
    options.setAlgorithm(gloo_algorithm(algorithm));
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(reduction);
    run(timeout, [&] { gloo::allreduce(options); });
  }
};

Communicator::Communicator(std::unique_ptr<State> state) : state_(std::move(state)) {}
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;

Communicator Communicator::connect(Store& store, const Group& group, Seconds timeout) {
  if (group.size < 1 || group.rank < 0 || group.rank >= group.size)
    throw Error{invalid_argument, "there is no rank {} in a group of {}", group.rank, group.size};
  std::vector<Connection> connections(static_cast<std::size_t>(group.size));
  if (group.size > 1 && !group.mpi) connections = connect_mesh(store, group, timeout);
  auto state = std::make_unique<State>(group, std::move(connections));
  if (group.size > 1 && group.mpi) {
    state->mpi_library = group.mpi;
    state->mpi.emplace(*group.mpi, group.rank, group.size, timeout, group.cancellation.get());
  }
  return Communicator(std::move(state));
}

int Communicator::rank() const { return state_->links.rank(); }
int Communicator::size() const { return state_->links.size(); }
int Communicator::missed_peer() const { return state_->links.missed_peer(); }

std::vector<double> Communicator::send_rates() const {
  std::vector<double> rates(static_cast<std::size_t>(size()));
  for (int peer = 0; peer < size(); ++peer) rates[static_cast<std::size_t>(peer)] = state_->links.send_rate(peer);
  return rates;
}

void Communicator::all_reduce(std::span<float> values, const Reduce& how, Seconds timeout) {
  if (size() == 1 || values.empty()) return;
  if (state_->mpi) {
    check_mpi_can(how);
    return state_->run(timeout, [&] { state_->mpi->all_reduce(values, timeout); });
  }
  const bool direct = how.algorithm == Algorithm::automatic && (how.wire != WireType::f32 || !suits_ring(size(), values.size_bytes()));
  if (direct) return state_->run(timeout, [&] { state_->direct.run(values, how.wire); });
  if (how.wire == WireType::f32) return state_->all_reduce(values, how.algorithm, reduce<float, &Reductions::add_f32>, timeout);
  const bool bf16 = how.wire == WireType::bf16;
  auto& wire = state_->wire_values;
  if (wire.size() < values.size()) wire.resize(values.size());
  const auto& r = reductions();
  (bf16 ? r.to_bf16 : r.to_f16)(wire.data(), values.data(), values.size());
  const Reduction sum = bf16 ? reduce<std::uint16_t, &Reductions::add_bf16> : reduce<std::uint16_t, &Reductions::add_f16>;
  state_->all_reduce(std::span(wire).first(values.size()), how.algorithm, sum, timeout);
  (bf16 ? r.from_bf16 : r.from_f16)(values.data(), wire.data(), values.size());
}

void Communicator::all_reduce(std::span<double> values, Seconds timeout) {
  if (size() == 1 || values.empty()) return;
  state_->run(timeout, [&] {
    if (state_->mpi) return state_->mpi->all_reduce(values, timeout);
    state_->direct.run(values);
  });
}

void Communicator::broadcast(std::span<std::byte> bytes, int root, Seconds timeout) {
  if (root < 0 || root >= size()) throw Error{invalid_argument, "there is no rank {} in a group of {} to broadcast from", root, size()};
  if (size() == 1 || bytes.empty()) return;
  if (state_->mpi) return state_->run(timeout, [&] { state_->mpi->broadcast(bytes, root, timeout); });
  gloo::BroadcastOptions options(state_->gloo);
  options.setOutput(reinterpret_cast<char*>(bytes.data()), bytes.size());
  options.setRoot(root);
  state_->run(timeout, [&] { gloo::broadcast(options); });
}

void Communicator::all_gather(std::span<const double> mine, std::span<double> all, Seconds timeout) {
  ensure(all.size() == mine.size() * static_cast<std::size_t>(size()), "all_gather needs room for the values of all members");
  std::ranges::copy(mine, all.begin() + static_cast<std::ptrdiff_t>(mine.size()) * rank());
  if (size() == 1 || mine.empty()) return;
  if (state_->mpi) return state_->run(timeout, [&] { state_->mpi->all_gather(mine, all, timeout); });
  gloo::AllgatherOptions options(state_->gloo);
  options.setOutput(all.data(), all.size());
  state_->run(timeout, [&] { gloo::allgather(options); });
}

void Communicator::barrier(Seconds timeout) {
  if (size() == 1) return;
  if (state_->mpi) return state_->run(timeout, [&] { state_->mpi->barrier(timeout); });
  gloo::BarrierOptions options(state_->gloo);
  state_->run(timeout, [&] { gloo::barrier(options); });
}

}  // namespace trireme::comm
