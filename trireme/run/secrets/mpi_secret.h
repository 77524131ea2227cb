// SPDX-License-Identifier: Apache-2.0
// How the other processes of mpirun get the job's secret from the first one. MPI encrypts nothing, so it carries only what is of no use to
// others.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trireme/comm/mpi_library.h"
#include "trireme/run/secrets/node_secrets.h"

namespace trireme::run {

// What the first process sends to all others.
struct SecretOffer {
  std::string coordinator;               // its address
  std::string check;                     // by which the secret is known when one has it
  std::filesystem::path file;            // the secret, where the disk is shared
  std::vector<std::string> credentials;  // of munge, one for each other process; none: there is no munge here

  std::string text() const;
};
SecretOffer secret_offer(const std::string& text);

// With credentials for `others` processes; 0: without.
SecretOffer offer_secret(const std::string& coordinator, const std::string& secret, const std::filesystem::path& file, int others);
// For the process of this rank; nothing if neither munge nor the file gives it.
std::optional<std::string> take_secret(const SecretOffer& offer, int rank);

struct SharedSecret {
  std::string coordinator;
  std::string secret;
};
// Calls of all processes, the first one's and the others'. If the secret can't come to some of them by munge or the file, the first process
// says so, and then it goes by MPI.
void hand_out_secret(comm::MpiLibrary& mpi, const SecretOffer& offer, const std::string& secret, Seconds timeout,
                     const std::function<void(const std::string& line)>& warn);
SharedSecret receive_secret(comm::MpiLibrary& mpi, Seconds timeout);

}  // namespace trireme::run
