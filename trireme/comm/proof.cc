// SPDX-License-Identifier: Apache-2.0
// Nonces and HMACs of both sides.
#include "trireme/comm/proof.h"

#include <cstring>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/message_seal.h"

namespace trireme::comm {
namespace {

constexpr std::string_view kProtocol = "trireme2";
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

// Says whose it is and for whom, so that it can't be sent back to its maker or on to a third member.
std::string proof(const Group& group, int maker, int reader, const std::string& hello, const std::string& nonce) {
  return hmac_sha256(group.key, fmt::format("trireme pair {} {} {} {} ", group.generation, maker, reader, group.channel) + hello + nonce);
}

// For what `maker` sends: it is derived from both nonces, so no two connections share one.
std::string seal_key(const Group& group, int maker, int reader, const std::string& hello, const std::string& nonce) {
  return hmac_sha256(group.key, fmt::format("trireme seal {} {} {} {} ", group.generation, maker, reader, group.channel) + hello + nonce)
      .substr(0, MessageSeal::kKeyBytes);
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

Error wrong_key(int rank) { return {unauthenticated, "what answers as rank {} does not know this job's key", rank}; }

}  // namespace

PairKeys prove_to_host(const Socket& socket, const Group& group, int host, const Deadline& deadline) {
  const std::string hello = hello_of(group);
  send_exactly(socket, hello, deadline);
  const std::string answer = receive_exactly(socket, kNonceBytes + kProofBytes, deadline);
  const std::string nonce = answer.substr(0, kNonceBytes);
  send_exactly(socket, proof(group, group.rank, host, hello, nonce), deadline);
  if (!equal_in_constant_time(answer.substr(kNonceBytes), proof(group, host, group.rank, hello, nonce))) throw wrong_key(host);
  receive_exactly(socket, kWelcome.size(), deadline);
  return {.sending = seal_key(group, group.rank, host, hello, nonce), .receiving = seal_key(group, host, group.rank, hello, nonce)};
}

Visitor::Visitor(Socket socket, const Group& group, const Deadline& deadline)
    : socket_(std::move(socket)), group_(group), deadline_(deadline), address_(peer_of(socket_)) {}

PairKeys Visitor::keys() const {
  return {.sending = seal_key(group_, group_.rank, rank_, hello_, nonce_),
          .receiving = seal_key(group_, rank_, group_.rank, hello_, nonce_)};
}

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
  send_exactly(socket_, nonce_ + proof(group_, group_.rank, rank_, hello_, nonce_), deadline_);
}

int Visitor::check_proof() {
  if (!equal_in_constant_time(received_, proof(group_, rank_, group_.rank, hello_, nonce_))) throw wrong_key(rank_);
  send_exactly(socket_, kWelcome, deadline_);
  return rank_;
}

}  // namespace trireme::comm
