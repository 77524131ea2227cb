// SPDX-License-Identifier: Apache-2.0
// The programs munge and unmunge, spoken to by their standard input and output: arguments of processes are public.
#include "trireme/cluster/process/munge.h"

#include <fmt/format.h>
#include <unistd.h>

#include "trireme/base/error.h"
#include "trireme/base/process.h"

namespace trireme::cluster {
namespace {

constexpr std::chrono::seconds kLimit{20};
constexpr int kLifetime = 300;  // seconds: a step of a busy Slurm may take a while to begin

std::vector<std::string> with_socket(std::vector<std::string> words, const std::string& socket) {
  if (!socket.empty()) words.push_back(fmt::format("--socket={}", socket));
  return words;
}

ProcessOutput run_with_input(std::vector<std::string> words, std::string input) {
  ProcessOutput output;
  const auto keep = [&](Stream stream, std::string_view line) {
    (stream == Stream::out ? output.out : output.err).append(line).append("\n");
  };
  Process process({.argv = std::move(words), .input = std::move(input), .input_file = {}, .on_line = keep, .on_exit = {}});
  process.close_input();
  output.status = process.wait_for(kLimit);
  if (!output.status) process.terminate(std::chrono::milliseconds(100));
  return output;
}

std::string without_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// unmunge says these only in what it prints of a credential, where the secret's neighbours stand.
std::string why(const ProcessOutput& read) {
  if (!read.status) return "its daemon does not answer";
  if (!read.err.empty()) return without_end(read.err);
  switch (read.status->code) {
    case 15:
      return "Expired credential";
    case 16:
      return "Rewound credential (a clock is behind)";
    case 17:
      return "Replayed credential";
    case 18:
      return "Unauthorized credential";
    default:
      return "unmunge " + read.status->in_words();
  }
}

}  // namespace

std::string munge_encode(const std::string& secret, const std::string& socket) {
  // The cipher is named: a daemon could be set up to encrypt nothing by default.
  const ProcessOutput made = run_with_input(with_socket({"munge", "--cipher=aes128", "--mac=sha256",
                                                         fmt::format("--restrict-uid={}", ::geteuid()), fmt::format("--ttl={}", kLifetime)},
                                                        socket),
                                            secret);
  if (!made.status || !made.status->is_success() || !made.out.starts_with("MUNGE:"))
    throw Error{unavailable, "munge makes no credential: {}", made.status ? without_end(made.err) : "its daemon does not answer"};
  return without_end(made.out);
}

std::string munge_decode(const std::string& credential, const std::string& socket) {
  const ProcessOutput read = run_with_input(with_socket({"unmunge", "--metadata=/dev/null"}, socket), credential + "\n");
  if (!read.status || !read.status->is_success())
    throw Error{unauthenticated,
                "this machine's munge does not decode what `trireme train` has sent: {}; do the machines' munge daemons share a key and "
                "the time?",
                why(read)};
  return without_end(read.out);
}

}  // namespace trireme::cluster
