// SPDX-License-Identifier: Apache-2.0
// Parses the dynamic loader's list: what is found, what is missing, and what is missing of the C library itself.
#include "trireme/cluster/launch/shared_libraries.h"

#include <algorithm>
#include <array>

#include "trireme/base/error.h"
#include "trireme/base/process.h"

namespace trireme::cluster {
namespace {

// These belong to the loader and the kernel of a machine; another machine's would not work there.
bool is_of_c_library(std::string_view name) {
  constexpr std::array<std::string_view, 9> kStems{"libc.so",  "libm.so",  "libmvec.so",   "libpthread.so", "libdl.so",
                                                   "librt.so", "ld-linux", "libresolv.so", "libutil.so"};
  return std::any_of(kStems.begin(), kStems.end(), [&](std::string_view stem) { return name.starts_with(stem); });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

void add_missing(LoaderReport& report, std::string_view library, std::string_view what) {
  if (is_of_c_library(library))
    add_once(report.missing_of_c_library, what);
  else
    add_once(report.missing, library);
}

// "prog: /lib/libc.so.6: version `GLIBC_2.38' not found (required by prog)"
bool read_version_line(LoaderReport& report, std::string_view line) {
  constexpr std::string_view kVersion = ": version `";
  const std::size_t at = line.find(kVersion);
  if (at == std::string_view::npos || line.find("' not found") == std::string_view::npos) return false;
  const std::string_view before = line.substr(0, at);
  const std::size_t slash = before.find_last_of("/ ");
  const std::string_view library = slash == std::string_view::npos ? before : before.substr(slash + 1);
  const std::string_view version = line.substr(at + kVersion.size(), line.find('\'', at + kVersion.size()) - at - kVersion.size());
  add_missing(report, library, version);
  return true;
}

// "libx.so.1 => /lib/libx.so.1 (0x...)" or "libx.so.1 => not found"
void read_library_line(LoaderReport& report, std::string_view line) {
  constexpr std::string_view kArrow = " => ";
  const std::size_t arrow = line.find(kArrow);
  if (arrow == std::string_view::npos) return;
  const std::string_view name = trimmed(line.substr(0, arrow));
  const std::string_view target = line.substr(arrow + kArrow.size());
  if (target.starts_with("not found"))
    add_missing(report, name, name);
  else if (target.starts_with('/'))
    report.found.emplace(name, target.substr(0, target.rfind(" (")));
}

}  // namespace

LoaderReport read_loader_lines(const std::vector<std::string>& lines) {
  LoaderReport report;
  for (const std::string& line : lines)
    if (!read_version_line(report, line)) read_library_line(report, line);
  return report;
}

std::map<std::string, std::filesystem::path> shippable(const LoaderReport& report) {
  std::map<std::string, std::filesystem::path> libraries = report.found;
  std::erase_if(libraries, [](const auto& row) { return is_of_c_library(row.first); });
  return libraries;
}

LoaderReport libraries_of(const std::filesystem::path& program) {
  std::vector<std::string> lines;
  const auto keep = [&](Stream, std::string_view line) { lines.emplace_back(line); };
  Process loader({.argv = {"env", "LD_TRACE_LOADED_OBJECTS=1", "LD_WARN=yes", program.string()},
                  .input = {},
                  .input_file = {},
                  .on_line = keep,
                  .on_exit = {}});
  constexpr auto kLimit = std::chrono::seconds(30);
  if (!loader.wait_for(kLimit)) {
    loader.terminate(std::chrono::seconds(1));
    throw Error{deadline_exceeded, "{}: the loader did not list its libraries within 30 s", program.string()};
  }
  return read_loader_lines(lines);
}

}  // namespace trireme::cluster
