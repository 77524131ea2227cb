// SPDX-License-Identifier: Apache-2.0
// An offer to all, a count of those who can't use it, and only then the secret itself.
#include "trireme/run/secrets/mpi_secret.h"

#include <fmt/format.h>

#include <array>
#include <sstream>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/hexadecimal.h"
#include "trireme/cluster/process/munge.h"
#include "trireme/comm/mpi_group.h"
#include "trireme/run/secrets/launch_secret.h"

namespace trireme::run {
namespace {

const std::string kUsualSocket;

// The secret is 32 random bytes: what is derived from it reveals nothing of it.
std::string check_of(const std::string& secret) { return to_hex(hmac_sha256(secret, "offer")); }

std::vector<std::string> credentials_for(const std::string& secret, int others) {
  std::vector<std::string> made;
  try {
    // Each is decoded once, so that none can be played back; hence one for each process.
    for (int i = 0; i < others; ++i) made.push_back(cluster::munge_encode(to_hex(secret), kUsualSocket));
  } catch (const Error&) {  // there is no munge here
    return {};
  }
  return made;
}

// Calls `take`; nothing if it throws, or what it gives is something else.
template <class Take>
std::optional<std::string> if_right(const std::string& check, const Take& take) {
  try {
    std::string secret = take();
    if (equal_in_constant_time(check_of(secret), check)) return secret;
  } catch (const Error&) {  // the next way, if there is one
  }
  return std::nullopt;
}

// How many processes lack the secret, known to all.
int lacking(comm::MpiLibrary& mpi, bool this_one, Seconds timeout) {
  comm::MpiGroup group(mpi, mpi.rank(), mpi.size(), timeout);
  std::array<double, 1> count{this_one ? 1.0 : 0.0};
  group.all_reduce(std::span<double>(count), timeout);
  return static_cast<int>(count[0]);
}

}  // namespace

std::string SecretOffer::text() const {
  std::string lines = fmt::format("{}\n{}\n{}\n", coordinator, check, file.string());
  for (const std::string& credential : credentials) lines += credential + "\n";
  return lines;
}

SecretOffer secret_offer(const std::string& text) {
  std::istringstream lines(text);
  SecretOffer offer;
  std::string file;
  std::getline(lines, offer.coordinator);
  std::getline(lines, offer.check);
  std::getline(lines, file);
  offer.file = file;
  for (std::string line; std::getline(lines, line);) offer.credentials.push_back(line);
  return offer;
}

SecretOffer offer_secret(const std::string& coordinator, const std::string& secret, const std::filesystem::path& file, int others) {
  return {.coordinator = coordinator, .check = check_of(secret), .file = file, .credentials = credentials_for(secret, others)};
}

std::optional<std::string> take_secret(const SecretOffer& offer, int rank) {
  const auto own = static_cast<std::size_t>(rank) - 1;
  std::optional<std::string> secret;
  if (own < offer.credentials.size())
    secret = if_right(offer.check, [&] { return from_hex(cluster::munge_decode(offer.credentials[own], kUsualSocket)); });
  if (!secret) secret = if_right(offer.check, [&] { return read_secret_file(offer.file); });
  return secret;
}

void hand_out_secret(comm::MpiLibrary& mpi, const SecretOffer& offer, const std::string& secret, Seconds timeout,
                     const std::function<void(const std::string& line)>& warn) {
  mpi.broadcast(offer.text(), timeout);
  const int others = lacking(mpi, false, timeout);
  if (others == 0) return;
  warn(fmt::format(
      "{} of {} processes have neither munge nor the folder {}: the job's secret goes to them over MPI, which encrypts nothing; "
      "install munge on all machines, or set XDG_CACHE_HOME to a folder that they share",
      others, mpi.size(), offer.file.parent_path().string()));
  mpi.broadcast(secret, timeout);
}

SharedSecret receive_secret(comm::MpiLibrary& mpi, Seconds timeout) {
  const SecretOffer offer = secret_offer(mpi.broadcast("", timeout));
  const auto secret = take_secret(offer, mpi.rank());
  const bool is_known_to_all = lacking(mpi, !secret, timeout) == 0;
  const std::string received = is_known_to_all ? "" : mpi.broadcast("", timeout);
  return {.coordinator = offer.coordinator, .secret = secret ? *secret : received};
}

}  // namespace trireme::run
