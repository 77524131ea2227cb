// SPDX-License-Identifier: Apache-2.0
// Marks before and after a script's output, and what it means when they do not come.
#include "trireme/cluster/launch/remote_script.h"

#include <charconv>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>

#include "trireme/base/error.h"
#include "trireme/base/process.h"
#include "trireme/base/rollback.h"
#include "trireme/cluster/launch/ssh.h"

namespace trireme::cluster {
namespace {

constexpr std::size_t kMaxText = 1 << 20;

// Follows a session from the lines that come in.
class Session {
 public:
  Session() : begin_("trireme-begin-" + random_mark()), end_("trireme-end-" + random_mark()) {}

  std::string script(std::string_view work) const { return fmt::format("echo {}; ( {} ); echo {} $?", begin_, work, end_); }

  void take(Stream stream, std::string_view line) {
    const std::scoped_lock lock(mutex_);
    if (stream == Stream::err) return append(output_.messages, line);
    const std::string_view mark = has_begun_ ? end_ : begin_;
    const std::size_t at = line.find(mark);  // the text before it may lack its own end of line
    const std::string_view before = line.substr(0, at);
    if (!has_begun_ && !before.empty()) append(output_.noise, before);
    if (has_begun_ && !has_ended_ && (at == std::string_view::npos || at > 0)) keep(before);
    if (at == std::string_view::npos) return;
    (has_begun_ ? has_ended_ : has_begun_) = true;
    if (has_ended_) read_code(line.substr(at + mark.size()));
    changed_.notify_all();
  }

  void finish(const ExitStatus& status) {
    const std::scoped_lock lock(mutex_);
    status_ = status;
    changed_.notify_all();
  }

  // Both return at the latest when the process has ended.
  bool await_begin(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return has_begun_ || status_; });
  }
  bool await_end(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return has_ended_ || status_; });
  }

  bool has_begun() const { return locked(has_begun_); }
  bool has_ended() const { return locked(has_ended_); }
  std::optional<ExitStatus> status() const { return locked(status_); }
  RemoteOutput output() const { return locked(output_); }

 private:
  template <class T>
  T locked(const T& value) const {
    const std::scoped_lock lock(mutex_);
    return value;
  }
  static void append(std::string& text, std::string_view line) {
    if (text.size() + line.size() < kMaxText) text.append(line).append("\n");
  }
  void keep(std::string_view line) {
    kept_ += line.size() + 1;
    if (kept_ < kMaxText) output_.lines.emplace_back(line);
  }
  void read_code(std::string_view text) {
    if (text.starts_with(' ')) text.remove_prefix(1);
    std::from_chars(text.data(), text.data() + text.size(), output_.code);
  }

  std::string begin_;
  std::string end_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool has_begun_ = false;
  bool has_ended_ = false;
  std::size_t kept_ = 0;
  std::optional<ExitStatus> status_;
  RemoteOutput output_;
};

std::string quoted_noise(std::string_view noise) {
  constexpr std::size_t kShown = 200;
  while (noise.ends_with('\n')) noise.remove_suffix(1);
  if (noise.empty()) return "";
  std::string shown;
  for (const char c : noise.substr(0, kShown)) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return fmt::format("; it printed \"{}\"", shown);
}

[[noreturn]] void refuse_swallowed(const Machine& machine, const Session& session, const LaunchOptions& options) {
  const std::string how = session.status() ? fmt::format("the login's shell {} before our command ran", session.status()->in_words())
                                           : fmt::format("our command did not begin within {} s", options.connect_timeout);
  const RemoteOutput output = session.output();
  throw Error{failed_precondition,
              "{}: {}{}. Something in the start-up files of that shell (.bashrc, .profile) swallows the session: they must not read, wait, "
              "exit or exec in "
              "logins without a terminal; try: ssh {} true",
              machine.name,
              how,
              quoted_noise(output.noise.empty() ? output.messages : output.noise),
              login_of(machine)};
}

void check_begin(const Machine& machine, Session& session, const LaunchOptions& options) {
  // ssh itself gives up after the connect timeout and says why; a little more time lets it.
  constexpr auto kTimeForReason = std::chrono::milliseconds(1500);
  session.await_begin(std::chrono::seconds(options.connect_timeout) + kTimeForReason);
  if (session.has_begun()) return;
  constexpr int kSshFailed = 255;
  if (session.status() && session.status()->code == kSshFailed) throw ssh_failure(machine, session.output().messages);
  refuse_swallowed(machine, session, options);
}

void check_end(const Machine& machine, Session& session, std::chrono::milliseconds limit) {
  const bool in_time = session.await_end(limit);
  if (session.has_ended()) return;
  if (!in_time)
    throw Error{deadline_exceeded, "{}: a command there took longer than {} s and was given up", machine.name,
                std::chrono::duration_cast<std::chrono::seconds>(limit).count()};
  throw Error{unavailable, "{}: the ssh connection was lost while a command ran there{}", machine.name,
              quoted_noise(session.output().messages)};
}

}  // namespace

std::string random_mark() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

RemoteOutput run_remotely(const Machine& machine, const LaunchOptions& options, const RemoteWork& work) {
  Session session;
  Process ssh({.argv = ssh_command(machine, options, session.script(work.script)),
               .input = {},
               .input_file = work.input_file,
               .on_line = [&](Stream stream, std::string_view line) { session.take(stream, line); },
               .on_exit = [&](const ExitStatus& status) { session.finish(status); }});
  if (work.input_file.empty()) ssh.close_input();
  Rollback login([&] { ssh.terminate(std::chrono::milliseconds(200)); });
  check_begin(machine, session, options);
  check_end(machine, session, work.limit);
  login.keep();
  constexpr auto kToClose = std::chrono::seconds(2);
  if (!ssh.wait_for(kToClose)) ssh.terminate(std::chrono::milliseconds(200));
  return session.output();
}

}  // namespace trireme::cluster
