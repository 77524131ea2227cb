// SPDX-License-Identifier: Apache-2.0
// Nonces and HMACs of both sides.
#include "trireme/comm/proof.h"

#include <cstring>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/message_seal.h"

namespace trireme::comm {
namespace {

constexpr std::string_view kProtocol = "trireme3";
constexpr std::size_t kNonceBytes = 32;
constexpr std::size_t kProofBytes = 32;
constexpr std::size_t kHelloBytes = kProtocol.size() + sizeof(std::uint64_t) + sizeof(std::uint32_t) + kNonceBytes;
constexpr std::string_view kWelcome = "+";

template <class T>
std::string bytes_of(T value) {
  std::string out(sizeof(value), '\0');
  std::memcpy(out.data(), &value, sizeof(value));
  return out;
}

std::string hello_of(const Group& group) {
  return std::string(kProtocol) + bytes_of(group.generation) + bytes_of(static_cast<std::uint32_t>(group.rank)) + random_bytes(kNonceBytes);
}

// What two members have said to each other, and whether messages between them are to be encrypted.
struct Talk {
  const Group& group;
  int peer;
  bool encrypt;
  const std::string& hello;
  const std::string& nonce;
};

// Says whose it is and for whom, so that it can't be sent back to its maker or on to a third member, and how messages will be protected.
std::string derived(const Talk& talk, std::string_view purpose, int maker, int reader) {
  return hmac_sha256(talk.group.key, fmt::format("trireme {} {} {} {} {} {} ", purpose, talk.encrypt ? "encrypted" : "sealed",
                                                 talk.group.generation, maker, reader, talk.group.channel) +
                                         talk.hello + talk.nonce);
}

std::string own_proof(const Talk& talk) { return derived(talk, "pair", talk.group.rank, talk.peer); }
std::string peer_proof(const Talk& talk) { return derived(talk, "pair", talk.peer, talk.group.rank); }

// For each direction one: they are derived from both nonces, so no two connections share any.
PairKeys keys_of(const Talk& talk) {
  return {.sending = derived(talk, "key", talk.group.rank, talk.peer).substr(0, MessageSeal::kKeyBytes),
          .receiving = derived(talk, "key", talk.peer, talk.group.rank).substr(0, MessageSeal::kKeyBytes),
          .encrypt = talk.encrypt};
}

void check_peer_proof(const Talk& talk, std::string_view arrived) {
  if (equal_in_constant_time(arrived, peer_proof(talk))) return;
  Talk otherwise = talk;
  otherwise.encrypt = !talk.encrypt;
  if (!equal_in_constant_time(arrived, peer_proof(otherwise)))
    throw Error{unauthenticated, "what answers as rank {} does not know this job's key", talk.peer};
  throw Error{invalid_argument, "rank {} {} and this one, rank {}, {}: start all nodes with the same strategy.encrypt",
              talk.peer,        talk.encrypt ? "does not encrypt what it sends" : "encrypts what it sends",
              talk.group.rank,  talk.encrypt ? "does" : "does not"};
}

bool encrypts(const Group& group, const Socket& socket) {
  if (group.encryption == Encryption::between_machines) return !are_on_one_machine(endpoint_of(socket), peer_of(socket));
  return group.encryption == Encryption::always;
}

// The rank a hello claims.
int rank_in(const std::string& hello, const Group& group) {
  std::uint32_t rank = 0;
  std::memcpy(&rank, hello.data() + kProtocol.size() + sizeof(group.generation), sizeof(rank));
  const bool ours = hello.starts_with(std::string(kProtocol) + bytes_of(group.generation));
  // Members call those of lower rank only.
  if (!ours || rank <= static_cast<std::uint32_t>(group.rank) || rank >= static_cast<std::uint32_t>(group.size))
    throw Error{unavailable, "it is no member of this generation"};
  return static_cast<int>(rank);
}

}  // namespace

PairKeys prove_to_host(const Socket& socket, const Group& group, int host, const Deadline& deadline) {
  const std::string hello = hello_of(group);
  send_exactly(socket, hello, deadline);
  const std::string answer = receive_exactly(socket, kNonceBytes + kProofBytes, deadline);
  const std::string nonce = answer.substr(0, kNonceBytes);
  const Talk talk{.group = group, .peer = host, .encrypt = encrypts(group, socket), .hello = hello, .nonce = nonce};
  send_exactly(socket, own_proof(talk), deadline);
  check_peer_proof(talk, answer.substr(kNonceBytes));
  receive_exactly(socket, kWelcome.size(), deadline);
  return keys_of(talk);
}

Visitor::Visitor(Socket socket, const Group& group, const Deadline& deadline)
    : socket_(std::move(socket)), group_(group), deadline_(deadline), encrypt_(encrypts(group, socket_)), address_(peer_of(socket_)) {}

PairKeys Visitor::keys() const { return keys_of({.group = group_, .peer = rank_, .encrypt = encrypt_, .hello = hello_, .nonce = nonce_}); }

std::optional<int> Visitor::advance() {
  const std::size_t wanted = hello_.empty() ? kHelloBytes : kProofBytes;
  received_ += receive_some(socket_, wanted - received_.size());
  if (received_.size() < wanted) return std::nullopt;
  if (!hello_.empty()) return check_proof();
  answer_hello();
  return std::nullopt;
}

void Visitor::answer_hello() {
  rank_ = rank_in(received_, group_);
  hello_ = std::exchange(received_, {});
  nonce_ = random_bytes(kNonceBytes);
  send_exactly(socket_, nonce_ + own_proof({.group = group_, .peer = rank_, .encrypt = encrypt_, .hello = hello_, .nonce = nonce_}),
               deadline_);
}

int Visitor::check_proof() {
  check_peer_proof({.group = group_, .peer = rank_, .encrypt = encrypt_, .hello = hello_, .nonce = nonce_}, received_);
  send_exactly(socket_, kWelcome, deadline_);
  return rank_;
}

}  // namespace trireme::comm
