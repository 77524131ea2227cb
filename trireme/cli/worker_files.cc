// SPDX-License-Identifier: Apache-2.0
// Writes them, and a list of what was written in the form of sha256sum.
#include "trireme/cli/worker_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <system_error>

#include "trireme/base/digest.h"
#include "trireme/base/files.h"

namespace trireme::cli {
namespace {

constexpr std::string_view kList = ".worker-files.sha256";
constexpr std::uintmax_t kMaxList = 1 << 22;

std::string name_of(std::size_t worker) { return fmt::format("worker-{}.json", worker); }

bool is_name(const std::string& name) {
  constexpr std::string_view kBegin = "worker-", kEnd = ".json";
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() <= kBegin.size() + kEnd.size()) return false;
  const std::string number = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  return std::ranges::all_of(number, [](char digit) { return digit >= '0' && digit <= '9'; });
}

// Checksums by name, as the last call wrote them.
std::map<std::string, std::string> written_before(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  if (!std::filesystem::exists(folder / kList, error)) return files;
  std::istringstream lines(read_file(folder / kList, kMaxList));
  for (std::string checksum, name; lines >> checksum >> name;)
    if (is_name(name)) files[name] = checksum;
  return files;
}

std::string checksum_of(const std::string& content) { return digest_of(Digest::Kind::sha256, content); }

std::vector<std::string> worker_files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (is_name(entry.path().filename().string())) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

void write_worker_files(const std::filesystem::path& folder, const std::vector<std::string>& configs, const run::Console& console) {
  make_directories(folder);
  const std::map<std::string, std::string> before = written_before(folder);
  std::map<std::string, std::string> now;
  std::string list;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const std::string content = configs[i] + "\n";
    now[name_of(i)] = checksum_of(content);
    list += fmt::format("{}  {}\n", now[name_of(i)], name_of(i));
    write_file_atomically(folder / name_of(i), content);
    console.out << (folder / name_of(i)).string() << "\n";
  }
  for (const std::string& name : worker_files_in(folder)) {
    if (now.contains(name)) continue;
    const auto own = before.find(name);
    std::error_code error;
    if (own != before.end() && checksum_of(read_file(folder / name)) == own->second && std::filesystem::remove(folder / name, error)) {
      console.err << fmt::format("removed {}: it was of an earlier export for more workers\n", (folder / name).string());
    } else {
      console.err << fmt::format(
          "trireme: warning: {} is of no worker of this cluster; it is left, since this command did not write it as it is\n",
          (folder / name).string());
    }
  }
  write_file_atomically(folder / kList, list);
}

}  // namespace trireme::cli
