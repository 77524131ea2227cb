// SPDX-License-Identifier: Apache-2.0
// Rendezvous in attempts: all members meet, connect, prove themselves, and say in the store how it went; unless all succeeded, all try
// again.
#include "trireme/comm/mesh.h"

#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>

#include <optional>
#include <utility>

#include "trireme/comm/gloo_store.h"
#include "trireme/comm/proof.h"

namespace trireme::comm {
namespace {

constexpr int kAttempts = 5;
// All members have come when a step begins, so it takes milliseconds unless a stranger is in the way.
constexpr Seconds kStepTimeout{3};
// Gloo waits five times the context's timeout for a connection.
constexpr double kGlooPatience = 5;

using DevicePointer = std::shared_ptr<gloo::transport::Device>;

DevicePointer make_device(const std::string& address) {
  try {
    return gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(address.c_str()));
  } catch (const std::exception& fault) {
    throw Error{invalid_argument, "cannot listen on '{}'; give an address of one of this machine's interfaces ({})", address, fault.what()};
  }
}

bool mentions(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

// One try, in keys of its own.
class Attempt {
 public:
  Attempt(Store& store, const Group& group, int number, const Deadline& deadline)
      : store_(store), group_(group), prefix_(fmt::format("comm/{}/{}/", group.generation, number)), deadline_(deadline) {}

  void meet() {
    store_.set(key("here", group_.rank), "");
    for (int rank = 0; rank < group_.size; ++rank) get("here", rank);
  }

  Mesh connect(DevicePointer device) const {
    Mesh mesh;
    const Deadline connected = deadline_.at_most(kStepTimeout);
    auto context = std::make_shared<gloo::rendezvous::Context>(group_.rank, group_.size);
    mesh.context = context;
    context->setTimeout(milliseconds_of(connected.left() / kGlooPatience));
    GlooStore store(store_, prefix_ + "gloo/", connected);
    try {
      context->connectFullMesh(store, device);
      mesh.addresses = prove_pairs(context, group_, deadline_.at_most(kStepTimeout));
      return mesh;
    } catch (const Error&) {
      throw;
    } catch (const std::exception& fault) {
      throw fault_of(fault, mesh);
    }
  }

  // Everybody's outcome must be known to everybody, or one would go on while another tries again.
  std::optional<Error> agree(const std::optional<Error>& fault) {
    store_.set(key("outcome", group_.rank), fault ? fmt::format("{} {}", static_cast<int>(fault->code()), fault->what()) : "");
    std::optional<Error> first = fault;
    for (int rank = 0; rank < group_.size; ++rank) {
      const std::string outcome = get("outcome", rank);
      if (outcome.empty() || first) continue;
      const auto code = static_cast<ErrorCode>(std::stoi(outcome));
      first = Error{code, "rank {} says: {}", rank, outcome.substr(outcome.find(' ') + 1)};
    }
    return first;
  }

 private:
  std::string key(const char* what, int rank) const { return fmt::format("{}{}/{}", prefix_, what, rank); }

  std::string get(const char* what, int rank) {
    try {
      return store_.get(key(what, rank), deadline_.left());
    } catch (const Error& fault) {
      if (fault.code() != deadline_exceeded) throw;
      throw Error{deadline_exceeded, "rank {} of generation {} has not come to the rendezvous in time; does it still run?", rank,
                  group_.generation};
    }
  }

  Store& store_;
  const Group& group_;
  std::string prefix_;
  Deadline deadline_;
};

// Pairs are closed here, before the outcome is told: whoever still waits for this member notices at once.
std::optional<Error> try_to_connect(const Attempt& attempt, const DevicePointer& device, Mesh& mesh) {
  try {
    mesh = attempt.connect(device);
    return std::nullopt;
  } catch (const Error& fault) {
    return fault;
  }
}

}  // namespace

Mesh connect_mesh(Store& store, const Group& group, Seconds timeout) {
  const Deadline deadline(timeout);
  const DevicePointer device = make_device(group.address);
  std::optional<Error> fault;
  for (int number = 0; number < kAttempts && !deadline.passed(); ++number) {
    Attempt attempt(store, group, number, deadline);
    attempt.meet();
    Mesh mesh;
    fault = attempt.agree(try_to_connect(attempt, device, mesh));
    if (!fault) return mesh;
  }
  if (!fault) throw Error{deadline_exceeded, "no time was given for the rendezvous of generation {}", group.generation};
  throw Error{fault->code(), "generation {} can't connect its {} members: {}", group.generation, group.size, fault->what()};
}

Error fault_of(const std::exception& fault, const Mesh& mesh) {
  const std::string text = fault.what();
  // Gloo names neither the rank nor, for a timeout, the peer.
  if (mentions(text, "Timed out") || mentions(text, "timeout"))
    return {deadline_exceeded, "a peer has kept silent for too long ({})", text};
  for (std::size_t rank = 0; rank < mesh.addresses.size(); ++rank)
    if (!mesh.addresses[rank].empty() && mentions(text, mesh.addresses[rank].c_str()))
      return {unavailable, "rank {} is gone ({})", rank, text};
  return {unavailable, "a peer is gone ({})", text};
}

}  // namespace trireme::comm
