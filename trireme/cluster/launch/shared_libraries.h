// SPDX-License-Identifier: Apache-2.0
// What the dynamic loader says about a program's shared libraries.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::cluster {

struct LoaderReport {
  std::map<std::string, std::filesystem::path> found;
  std::vector<std::string> missing;               // not there, or of an older version than needed
  std::vector<std::string> missing_of_c_library;  // e.g. "GLIBC_2.36": can't be shipped
};

// Reads the lines of LD_TRACE_LOADED_OBJECTS=1 LD_WARN=yes PROGRAM, which is what ldd prints.
LoaderReport read_loader_lines(const std::vector<std::string>& lines);

// The libraries of a program on this machine.
LoaderReport libraries_of(const std::filesystem::path& program);

// Those that can be brought to another machine: all that were found but the C library's, which belong to a machine's loader and kernel.
std::map<std::string, std::filesystem::path> shippable(const LoaderReport& report);

}  // namespace trireme::cluster
