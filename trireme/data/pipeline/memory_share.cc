// SPDX-License-Identifier: Apache-2.0
// Reads /proc and the control groups' files.
#include "trireme/data/pipeline/memory_share.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/vanishing_file.h"

namespace trireme::data {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// Of a file that has nothing but a number; "max" and what is missing are no number.
std::optional<std::size_t> number_in(const std::optional<std::string>& text) {
  std::size_t value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

// Of a file with "key value" lines; the key of meminfo has a colon.
std::optional<std::size_t> number_of(const std::optional<std::string>& text, std::string_view key) {
  if (!text) return std::nullopt;
  std::istringstream lines(*text);
  std::string line, word;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::size_t value = 0;
    if (words >> word && word == key && words >> value) return value;
  }
  return std::nullopt;
}

// The names of the two generations of control groups' files.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* reclaimable;  // in memory.stat: pages of files, which the kernel drops before it kills
};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file"};

struct Hierarchy {
  GroupFiles files;
  std::string root;   // which group the mount shows as its top
  std::string mount;  // where
  std::string group;  // of this process, from the hierarchy's own top
};

bool has_word(std::string_view list, std::string_view word) {
  return fmt::format(",{},", list).find(fmt::format(",{},", word)) != std::string::npos;
}

// "4:memory:/a/b" (v1) or "0::/a/b" (v2).
std::optional<std::string> group_of(const std::string& cgroups, bool is_version2) {
  std::istringstream lines(cgroups);
  std::string line;
  while (std::getline(lines, line)) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (is_version2 ? line.starts_with("0::") : has_word(controllers, "memory")) return line.substr(second + 1);
  }
  return std::nullopt;
}

// A line of mountinfo: "id parent device root mount options [tags...] - type source super_options".
std::optional<Hierarchy> hierarchy_in(const std::string& line, const std::string& cgroups) {
  std::istringstream words(line);
  const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
  const auto dash = std::ranges::find(fields, "-");
  if (fields.size() < 6 || fields.end() - dash < 4) return std::nullopt;
  const bool is_version2 = dash[1] == "cgroup2";
  if (!is_version2 && !(dash[1] == "cgroup" && has_word(dash[3], "memory"))) return std::nullopt;
  const auto group = group_of(cgroups, is_version2);
  if (!group) return std::nullopt;
  return Hierarchy{.files = is_version2 ? kVersion2 : kVersion1, .root = fields[3], .mount = fields[4], .group = *group};
}

// Every folder from the process's group up to the mount. A group above the mount's root can't be seen; its mount then stands for it.
std::vector<std::string> folders_of(const Hierarchy& hierarchy) {
  std::string below = hierarchy.group;
  if (hierarchy.root != "/") below = below.starts_with(hierarchy.root) ? below.substr(hierarchy.root.size()) : "";
  if (!below.starts_with('/')) below.clear();
  std::vector<std::string> folders;
  for (; below.size() > 1; below.resize(below.rfind('/'))) folders.push_back(hierarchy.mount + below);
  folders.push_back(hierarchy.mount);
  return folders;
}

std::optional<MemoryRoom> room_of_group(const std::string& folder, const GroupFiles& files, const ReadText& read) {
  const std::string limit_file = folder + "/" + files.limit;
  const auto limit = number_in(read(limit_file));
  const auto used = number_in(read(folder + "/" + files.used));
  if (!limit || !used) return std::nullopt;
  const std::size_t reclaimable = number_of(read(folder + "/memory.stat"), files.reclaimable).value_or(0);
  const std::size_t kept = *used - std::min(*used, reclaimable);
  return MemoryRoom{.bytes = *limit - std::min(*limit, kept), .limit = limit_file + " leaves"};
}

// Bytes in memory of the processes that our own parent started beside this one.
std::size_t held_by_siblings() {
  std::size_t bytes = 0;
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry("/proc", ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(::getpid())) continue;
    const auto status = read_vanishing_file(entry->path() / "status");
    if (number_of(status, "PPid:") == static_cast<std::size_t>(::getppid())) bytes += 1024 * number_of(status, "RssAnon:").value_or(0);
  }
  return bytes;
}

}  // namespace

MemoryRoom memory_room(const ReadText& read) {
  MemoryRoom room{.bytes = kUnlimited, .limit = "this machine has"};
  if (const auto kibibytes = number_of(read("/proc/meminfo"), "MemAvailable:")) room.bytes = *kibibytes * 1024;
  const std::string cgroups = read("/proc/self/cgroup").value_or("");
  std::istringstream mounts(read("/proc/self/mountinfo").value_or(""));
  for (std::string line; std::getline(mounts, line);) {
    const auto hierarchy = hierarchy_in(line, cgroups);
    if (!hierarchy) continue;
    for (const std::string& folder : folders_of(*hierarchy)) {
      const auto group = room_of_group(folder, hierarchy->files, read);
      if (group && group->bytes < room.bytes) room = *group;
    }
  }
  return room;
}

std::size_t share_of(std::size_t room, std::size_t held, std::int64_t nodes) {
  const std::size_t all = room > kUnlimited - held ? kUnlimited : room + held;
  const std::size_t share = std::min(room, all / static_cast<std::size_t>(std::max<std::int64_t>(nodes, 1)));
  return share - share / 10;
}

void MemoryBudget::take(std::size_t bytes, std::int64_t samples) {
  if (bytes > room_.bytes)
    throw Error{
        resource_exhausted,
        "caching {} samples takes {} bytes of memory, which are not there: {} {} for it; set data.pipeline.cache = \"disk\" or \"none\"",
        samples,
        bytes,
        room_.limit,
        room_.bytes};
  room_.bytes -= bytes;
}

MemoryRoom memory_share(std::int64_t nodes) {
  MemoryRoom room = memory_room([](const std::string& path) { return read_vanishing_file(path); });
  room.bytes = share_of(room.bytes, nodes > 1 ? held_by_siblings() : 0, nodes);
  if (nodes > 1) room.limit += fmt::format(" each of {} nodes", nodes);
  return room;
}

}  // namespace trireme::data
