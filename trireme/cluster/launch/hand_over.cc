// SPDX-License-Identifier: Apache-2.0
// "munge SOCKET CREDENTIAL" or "file PATH"; anything else is the secret itself.
#include "trireme/cluster/launch/hand_over.h"

#include <fmt/format.h>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/hexadecimal.h"
#include "trireme/cluster/process/munge.h"

namespace trireme::cluster {
namespace {

constexpr std::string_view kMunge = "munge ";
constexpr std::string_view kFile = "file ";
constexpr std::string_view kUsualSocket = "-";
constexpr std::size_t kNameBytes = 16;

std::string from_munge(std::string_view words) {
  const std::size_t blank = words.rfind(' ');
  if (blank == std::string_view::npos) throw Error{invalid_argument, "the first line of standard input has no credential of munge's"};
  const std::string_view socket = words.substr(0, blank);
  return munge_decode(std::string(words.substr(blank + 1)), socket == kUsualSocket ? "" : std::string(socket));
}

std::string from_file(const std::filesystem::path& path) {
  std::string line = read_file(path);
  std::error_code gone;
  std::filesystem::remove(path, gone);
  return line;
}

}  // namespace

std::string handed_over(std::string line, const HandOver& how) {
  if (how.way == HandOver::Way::as_is) return line;
  if (line.ends_with('\n')) line.pop_back();
  std::string sent;
  if (how.way == HandOver::Way::munge) {
    sent = fmt::format("{}{} {}\n", kMunge, how.socket.empty() ? kUsualSocket : how.socket, munge_encode(line, how.socket));
  } else {
    const std::filesystem::path file = how.folder / (to_hex(random_bytes(kNameBytes)) + ".secret");
    write_secret_file(file, line);
    sent = fmt::format("{}{}\n", kFile, file.string());
  }
  wipe(line);
  return sent;
}

std::string taken_over(std::string line) {
  if (line.starts_with(kMunge)) return from_munge(std::string_view(line).substr(kMunge.size()));
  if (line.starts_with(kFile)) return from_file(line.substr(kFile.size()));
  return line;
}

std::filesystem::path make_shared_folder(const std::filesystem::path& parent) {
  std::filesystem::path folder = parent / ("launch-" + to_hex(random_bytes(kNameBytes)));
  make_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  write_secret_file(probe_in(folder), "");
  return folder;
}

std::filesystem::path probe_in(const std::filesystem::path& folder) { return folder / "probe"; }

}  // namespace trireme::cluster
