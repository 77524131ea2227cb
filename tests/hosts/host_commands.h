// SPDX-License-Identifier: Apache-2.0
// What test hosts are made with: commands that must succeed, names, keys, processes of a namespace.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::tests {

using Words = std::vector<std::string>;

constexpr auto kLimit = std::chrono::seconds(20);             // of any command here
constexpr std::string_view kPassedOn = "TRIREME_FAILPOINTS";  // environment variables that the client sends and hosts take
constexpr std::string_view kPrefix = "trireme-hosts-";

void must(const Words& argv);
Words in_space(const std::string& space, const Words& argv);

std::filesystem::path folder_of(pid_t owner);
std::string switch_space(pid_t owner);
std::string host_space(pid_t owner, std::size_t host);
std::string own_link(pid_t owner);

void make_key(const std::filesystem::path& path, std::string_view comment);
std::string user_name();
std::string user_home();

// Processes of a namespace, seen from outside.
std::vector<pid_t> members(const std::string& pid_space);

}  // namespace trireme::tests
