// SPDX-License-Identifier: Apache-2.0
// How a node's secrets come to its standard input over a way that others may listen to.
#pragma once

#include <filesystem>
#include <string>

namespace trireme::cluster {

struct HandOver {
  // as_is: the way is this machine's kernel or ssh, or there is no other. file: in a folder that all machines share and only this user can
  // read; the line says where.
  enum class Way { as_is, munge, file };
  Way way = Way::as_is;
  std::string socket;            // munge's; empty: where it looks by itself
  std::filesystem::path folder;  // of files, made by this process
};

// The line that is sent instead of `line`, which has an end mark and is overwritten.
std::string handed_over(std::string line, const HandOver& how);
// What the node does with it; both without end mark. A file is removed once it is read.
std::string taken_over(std::string line);

// A folder for files, with a file `probe` in it by which other machines find out whether they share it.
std::filesystem::path make_shared_folder(const std::filesystem::path& parent);
std::filesystem::path probe_in(const std::filesystem::path& folder);

}  // namespace trireme::cluster
