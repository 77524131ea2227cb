// SPDX-License-Identifier: Apache-2.0
// Builds ssh's arguments and reads its messages.
#include "trireme/cluster/launch/ssh.h"

#include <algorithm>

#include "trireme/base/host.h"

namespace trireme::cluster {
namespace {

constexpr std::int64_t kAliveSeconds = 5;  // a question to the machine after so much silence
constexpr std::int64_t kAliveCount = 3;    // unanswered questions until the connection counts as lost

bool is_plain(std::string_view word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/=:,@%+";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

void add_option(std::vector<std::string>& words, std::string option) {
  words.emplace_back("-o");
  words.push_back(std::move(option));
}

// ssh takes the first value it meets, so these stand before anything that a user can add.
void add_fixed_options(std::vector<std::string>& words, const LaunchOptions& options) {
  const bool accepts_new = options.accept_new_hosts || options.ssh.accept_new;
  add_option(words, "BatchMode=yes");
  add_option(words, fmt::format("StrictHostKeyChecking={}", accepts_new ? "accept-new" : "yes"));
  add_option(words, fmt::format("ConnectTimeout={}", options.connect_timeout));
  add_option(words, "ConnectionAttempts=1");
  add_option(words, fmt::format("ServerAliveInterval={}", kAliveSeconds));
  add_option(words, fmt::format("ServerAliveCountMax={}", kAliveCount));
  add_option(words, "ForwardAgent=no");
  add_option(words, "ClearAllForwardings=yes");
  add_option(words, "PermitLocalCommand=no");
  add_option(words, "RemoteCommand=none");
}

void add_settings(std::vector<std::string>& words, const SshSettings& settings) {
  if (!settings.known_hosts_file.empty()) {
    check_path(settings.known_hosts_file, "known_hosts_file", "[ssh]");
    add_option(words, "UserKnownHostsFile=" + settings.known_hosts_file);
  }
  if (!settings.identity_file.empty()) {
    check_path(settings.identity_file, "identity_file", "[ssh]");
    add_option(words, "IdentitiesOnly=yes");
    words.insert(words.end(), {"-i", settings.identity_file});
  }
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The line with `part`, or the last one.
std::string_view line_with(std::string_view text, std::string_view part) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::size_t at = part.empty() ? std::string_view::npos : text.find(part);
  if (at == std::string_view::npos) {
    const std::size_t last = text.rfind('\n');
    return last == std::string_view::npos ? text : text.substr(last + 1);
  }
  const std::size_t before = text.rfind('\n', at);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(first, text.find('\n', at) - first);
}

std::string_view word_starting(std::string_view text, std::string_view start) {
  const std::size_t at = text.find(start);
  if (at == std::string_view::npos) return {};
  std::string_view word = text.substr(at, text.find_first_of(" \n", at) - at);
  while (word.ends_with('.')) word.remove_suffix(1);
  return word;
}

// As known_hosts and ssh-keygen write a host.
std::string known_name(const Machine& machine) {
  return machine.port == Machine{}.port ? machine.address : fmt::format("[{}]:{}", machine.address, machine.port);
}

Error changed_key(const Machine& machine, std::string_view messages) {
  const std::string_view print = word_starting(messages, "SHA256:");
  return {failed_precondition,
          "{}: its host key has changed{}: either it was set up anew, or another machine answers at its address, so it is not logged in "
          "to. If you "
          "know why, take the old key out with: ssh-keygen -R '{}'",
          machine.name, print.empty() ? "" : fmt::format(" (it is {} now)", print), known_name(machine)};
}

Error unknown_key(const Machine& machine) {
  return {failed_precondition,
          "{}: its host key is not known here, so it is not logged in to. Log in once by hand and compare the key (ssh {}), or set "
          "accept_new = true in "
          "[ssh] of the cluster file to trust machines that are new",
          machine.name, login_of(machine)};
}

Error refused_key(const Machine& machine) {
  return {
      permission_denied,
      "{}: the machine is there, but accepts none of our keys (passwords are never asked for). Put your public key there: ssh-copy-id {}",
      machine.name, login_of(machine)};
}

}  // namespace

std::string login_of(const Machine& machine) {
  const std::string port = machine.port == Machine{}.port ? "" : fmt::format("-p {} ", machine.port);
  return machine.user.empty() ? port + machine.address : fmt::format("{}{}@{}", port, machine.user, machine.address);
}

std::string remote_folder(std::string_view hash) {
  ensure(!hash.empty() && hash.find_first_not_of("0123456789abcdef") == std::string_view::npos, "a hash is hexadecimal");
  return fmt::format("$HOME/.cache/trireme/bin/{}", hash);
}

std::string start_script(std::string_view hash, const std::vector<std::string>& arguments, Libraries libraries) {
  const std::string folder = remote_folder(hash);
  std::string script;
  if (libraries == Libraries::shipped)
    script += fmt::format("export LD_LIBRARY_PATH=\"{}/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"; ", folder);
  script += fmt::format("exec \"{}/trireme\"", folder);
  for (const std::string& argument : arguments) {
    ensure(is_plain(argument), "an argument for another machine is a plain word");
    script += " " + argument;
  }
  return script;
}

std::vector<std::string> ssh_command(const Machine& machine, const LaunchOptions& options, std::string_view script) {
  check_address(machine.address, machine.name);
  ensure(script.find_first_of("'\\!\n") == std::string_view::npos, "a script has only characters that all shells read alike");
  std::vector<std::string> words{"ssh", "-T"};
  add_fixed_options(words, options);
  add_settings(words, options.ssh);
  words.insert(words.end(), options.ssh_args.begin(), options.ssh_args.end());
  words.insert(words.end(), {"-a", "-x"});  // of these flags the last one counts
  if (machine.port != Machine{}.port) words.insert(words.end(), {"-p", fmt::format("{}", machine.port)});
  if (!machine.user.empty()) {
    check_name(machine.user, "user", machine.name);
    words.insert(words.end(), {"-l", machine.user});
  }
  words.insert(words.end(), {"--", machine.address, fmt::format("exec sh -c '{}'", script)});
  return words;
}

Error ssh_failure(const Machine& machine, std::string_view messages) {
  const std::string& name = machine.name;
  const std::string where = join_host_port(machine.address, machine.port);
  if (has(messages, "HOST IDENTIFICATION HAS CHANGED") || has(messages, "has changed and you have requested strict checking"))
    return changed_key(machine, messages);
  if (has(messages, "Host key verification failed") || has(messages, "host key is known for")) return unknown_key(machine);
  if (has(messages, "Could not resolve hostname"))
    return {not_found, "{}: there is no host '{}' (its name can't be resolved); correct the name or write its IP address", name,
            machine.address};
  if (has(messages, "UNPROTECTED PRIVATE KEY FILE") || has(messages, "bad permissions"))
    return {failed_precondition, "{}: ssh does not use a private key that others can read: chmod 600 {}", name,
            word_starting(messages, "/")};
  if (has(messages, "Too many authentication failures"))
    return {permission_denied, "{}: ssh offered too many keys; name the right one with identity_file in [ssh] of the cluster file", name};
  if (has(messages, "Permission denied (")) return refused_key(machine);
  if (has(messages, "Connection refused"))
    return {unavailable, "{}: connection refused: {} is up, but no ssh server listens there; start sshd, or correct the port", name, where};
  if (has(messages, "timed out") || has(messages, "No route to host") || has(messages, "unreachable"))
    return {unavailable, "{}: {} can't be reached ({}); is the machine on, the address right, and ssh's port open in its firewall?", name,
            where, line_with(messages, "connect to host")};
  if (has(messages, "onnection closed") || has(messages, "onnection reset") || has(messages, "kex_exchange"))
    return {unavailable, "{}: the ssh server closed the connection before the login ({}); its log (journalctl -u ssh) says why", name,
            line_with(messages, "")};
  const std::string_view last = line_with(messages, "");
  return {unavailable, "{}: ssh failed: {}; try by hand: ssh {}", name, last.empty() ? "it said nothing" : last, login_of(machine)};
}

}  // namespace trireme::cluster
