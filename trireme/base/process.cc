// SPDX-License-Identifier: Apache-2.0
// Fork and exec, and a thread for each child that moves its input and output and reaps it.
#include "trireme/base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>

#include "trireme/base/descriptor.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/line_splitter.h"
#include "trireme/base/rollback.h"

namespace trireme {
namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error(errno, "make a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// What the child needs after fork, where nothing may be allocated.
struct ChildPlan {
  std::vector<char*> argv;
  int in;
  int out;
  int err;
  const char* directory;  // null: ours
  int fault;              // errno of a failed start goes here; closed by a good one
  pid_t parent;
  bool outlives_parent;
};

[[noreturn]] void fail_child(const ChildPlan& plan) {
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(plan.fault, &reason, sizeof reason);
  ::_exit(127);
}

// Only async-signal-safe calls: other threads may have held any lock when we forked.
[[noreturn]] void become_child(const ChildPlan& plan) {
  ::setpgid(0, 0);
  if (!plan.outlives_parent && ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail_child(plan);
  if (::getppid() != plan.parent) ::_exit(127);  // the parent died before we could ask for its signal
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD}) ::signal(number, SIG_DFL);
  if (::dup2(plan.in, 0) < 0 || ::dup2(plan.out, 1) < 0 || ::dup2(plan.err, 2) < 0) fail_child(plan);
  if (plan.directory != nullptr && ::chdir(plan.directory) != 0) fail_child(plan);
  // Libraries of ours may have opened descriptors without the flag.
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execvp(plan.argv[0], plan.argv.data());
  fail_child(plan);
}

// A pipe's end above the standard three, which dup2 in the child would overwrite.
Descriptor above_standard(Descriptor descriptor) {
  if (descriptor.get() > 2) return descriptor;
  return Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 3));
}

Descriptor open_input(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) throw_system_error(errno, fmt::format("read {}", path.string()));
  return file;
}

void make_nonblocking(const Descriptor& descriptor) { ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK); }

ExitStatus exit_status_of(int raw) {
  if (WIFSIGNALED(raw)) return {.code = 128 + WTERMSIG(raw), .signal = WTERMSIG(raw)};
  return {.code = WEXITSTATUS(raw), .signal = 0};
}

}  // namespace

std::string ExitStatus::in_words() const {
  if (signal == 0) return fmt::format("exited with code {}", code);
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("killed by signal {}", signal) : fmt::format("killed by SIG{}", name);
}

struct Process::State {
  explicit State(ProcessOptions given) : options(std::move(given)) {
    wake = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake.is_open()) throw_system_error(errno, "make an eventfd");
    const auto started = std::make_shared<std::promise<void>>();  // the thread may be in it when we are through
    std::future<void> start = started->get_future();
    // The child is forked by the thread that tends it: its death signal is tied to the thread, not to the process.
    try {
      thread = std::thread([this, started] { tend(*started); });
    } catch (const std::system_error& error) {  // a foreign exception becomes an Error
      throw_system_error(error.code().value(), fmt::format("start {}: make a thread", options.argv[0]));
    }
    Rollback tending([this] { thread.join(); });
    start.get();
    tending.keep();
  }

  ~State() {
    kill_group(SIGKILL);
    thread.join();
  }

  void tend(std::promise<void>& started) {
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);  // a child that ended early is no reason to die
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
    try {
      start();
    } catch (...) {  // on the child's thread: the constructor throws it
      started.set_exception(std::current_exception());
      return;
    }
    started.set_value();
    pump();
    finish();
  }

  void start() {
    Pipe in;
    if (options.input_file.empty())
      in = make_pipe();
    else
      in.read = open_input(options.input_file);
    Pipe outs[2] = {make_pipe(), make_pipe()};
    Pipe fault = make_pipe();
    in.read = above_standard(std::move(in.read));
    outs[0].write = above_standard(std::move(outs[0].write));
    outs[1].write = above_standard(std::move(outs[1].write));
    fault.write = above_standard(std::move(fault.write));
    ChildPlan plan{.argv = {},
                   .in = in.read.get(),
                   .out = outs[0].write.get(),
                   .err = outs[1].write.get(),
                   .directory = options.directory.empty() ? nullptr : options.directory.c_str(),
                   .fault = fault.write.get(),
                   .parent = ::getpid(),
                   .outlives_parent = options.outlives_us};
    for (std::string& word : options.argv) plan.argv.push_back(word.data());
    plan.argv.push_back(nullptr);
    const pid_t forked = ::fork();
    if (forked == 0) become_child(plan);
    if (forked < 0) throw_system_error(errno, fmt::format("start {}", options.argv[0]));
    ::setpgid(forked, forked);  // the child does it too; the first one counts
    fault.write.close();
    await_exec(forked, fault.read);
    pid = forked;
    handle = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, forked, 0)));
    if (!handle.is_open()) give_up(forked);
    input = std::move(in.write);
    outputs[0] = std::move(outs[0].read);
    outputs[1] = std::move(outs[1].read);
    for (const Descriptor* end : {&input, &outputs[0], &outputs[1]})
      if (end->is_open()) make_nonblocking(*end);
  }

  // Its end would go unnoticed.
  [[noreturn]] void give_up(pid_t forked) {
    const int reason = errno;
    ::kill(-forked, SIGKILL);
    ::waitpid(forked, nullptr, 0);
    throw_system_error(reason, fmt::format("watch {}", options.argv[0]));
  }

  void await_exec(pid_t forked, const Descriptor& fault) {
    int reason = 0;
    ssize_t got = 0;
    do got = ::read(fault.get(), &reason, sizeof reason);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return;
    ::waitpid(forked, nullptr, 0);
    throw_system_error(reason, fmt::format("start {}", options.argv[0]));
  }

  // Until the child has ended; a grandchild that holds the pipes open does not keep us.
  void pump() {
    while (true) {
      std::array<pollfd, 5> waits{pollfd{handle.get(), POLLIN, 0}, pollfd{wake.get(), POLLIN, 0}, pollfd{outputs[0].get(), POLLIN, 0},
                                  pollfd{outputs[1].get(), POLLIN, 0}, pollfd{has_input() ? input.get() : -1, POLLOUT, 0}};
      if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) break;
      if (waits[1].revents != 0) take_input();
      if (waits[4].revents != 0) write_input();
      for (const std::size_t i : {0U, 1U})
        if (waits[2 + i].revents != 0) read_output(i);
      if (waits[0].revents != 0) break;
    }
    for (const std::size_t i : {0U, 1U}) {
      while (read_output(i)) {
      }
      splitters[i].finish([&](std::string_view line) { deliver(i, line); });
    }
  }

  bool has_input() const { return input.is_open() && written < options.input.size(); }

  void take_input() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake.get(), &count, sizeof count);
    {
      const std::scoped_lock lock(mutex);
      options.input += queue;
      ::explicit_bzero(queue.data(), queue.size());
      queue.clear();
    }
    close_if_done();
  }

  void close_if_done() {
    const std::scoped_lock lock(mutex);
    if (is_closing && !has_input()) input.close();
  }

  void write_input() {
    const ssize_t count = ::write(input.get(), options.input.data() + written, options.input.size() - written);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count < 0) input.close();  // it reads no more
    written += count < 0 ? 0 : static_cast<std::size_t>(count);
    if (has_input()) return;
    wipe_input();
    close_if_done();
  }

  void wipe_input() {
    ::explicit_bzero(options.input.data(), options.input.size());
    options.input.clear();
    written = 0;
  }

  // False when there is nothing to read at the moment.
  bool read_output(std::size_t i) {
    if (!outputs[i].is_open()) return false;
    std::array<char, 16384> buffer;
    const ssize_t count = ::read(outputs[i].get(), buffer.data(), buffer.size());
    if (count < 0) return errno == EINTR;
    if (count == 0) {
      outputs[i].close();
      return false;
    }
    if (options.on_bytes)
      options.on_bytes(i == 0 ? Stream::out : Stream::err, {buffer.data(), static_cast<std::size_t>(count)});
    else
      splitters[i].add({buffer.data(), static_cast<std::size_t>(count)}, [&](std::string_view line) { deliver(i, line); });
    return true;
  }

  void deliver(std::size_t i, std::string_view line) const {
    if (options.on_line) options.on_line(i == 0 ? Stream::out : Stream::err, line);
  }

  void finish() {
    wipe_input();
    ExitStatus status;
    {
      const std::scoped_lock lock(mutex);
      ::kill(-pid, SIGKILL);  // what it may have left behind; its number is not given away before it is reaped
      int raw = 0;
      while (::waitpid(pid, &raw, 0) < 0 && errno == EINTR) {
      }
      status = exit_status_of(raw);
      is_reaped = true;
    }
    if (options.on_exit) options.on_exit(status);
    const std::scoped_lock lock(mutex);
    ended = status;
    changed.notify_all();
  }

  void kill_group(int number) {
    const std::scoped_lock lock(mutex);
    if (!is_reaped) ::kill(-pid, number);
  }

  void add_input(std::string_view text, bool closes) {
    {
      const std::scoped_lock lock(mutex);
      queue += text;
      is_closing = is_closing || closes;
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t count = ::write(wake.get(), &one, sizeof one);
  }

  std::optional<ExitStatus> wait_for(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, timeout, [&] { return ended.has_value(); });
    return ended;
  }

  ProcessOptions options;
  pid_t pid = -1;
  Descriptor wake;    // written: there is more input, or its end
  Descriptor handle;  // readable when the child has ended
  Descriptor input;
  Descriptor outputs[2];
  LineSplitter splitters[2];
  std::size_t written = 0;  // of options.input
  std::mutex mutex;         // of what stands below
  std::condition_variable changed;
  std::string queue;  // more input
  bool is_closing = false;
  bool is_reaped = false;
  std::optional<ExitStatus> ended;
  std::thread thread;
};

Process::Process(ProcessOptions options) {
  ensure(!options.argv.empty(), "a process has a program");
  state_ = std::make_unique<State>(std::move(options));
}
Process::~Process() = default;

pid_t Process::pid() const { return state_->pid; }
std::optional<ExitStatus> Process::status() const { return state_->wait_for(std::chrono::milliseconds(0)); }
std::optional<ExitStatus> Process::wait_for(std::chrono::milliseconds timeout) { return state_->wait_for(timeout); }
void Process::send(std::string_view text) { state_->add_input(text, false); }
void Process::close_input() { state_->add_input({}, true); }
void Process::signal(int number) { state_->kill_group(number); }

ExitStatus Process::terminate(std::chrono::milliseconds grace) {
  close_input();
  signal(SIGTERM);
  if (const auto status = wait_for(grace)) return *status;
  signal(SIGKILL);
  // A killed process ends at once, unless the kernel itself is stuck in it.
  constexpr auto kLongest = std::chrono::seconds(10);
  return wait_for(kLongest).value_or(ExitStatus{.code = 128 + SIGKILL, .signal = SIGKILL});
}

ProcessOutput run_process(const std::vector<std::string>& argv, std::chrono::milliseconds timeout,
                          const std::filesystem::path& input_file) {
  constexpr std::size_t kMost = 1 << 20;
  ProcessOutput output;
  const auto keep = [&](Stream stream, std::string_view line) {
    std::string& text = stream == Stream::out ? output.out : output.err;
    if (text.size() + line.size() < kMost) text.append(line).append("\n");
  };
  Process process({.argv = argv, .input = {}, .input_file = input_file, .on_line = keep, .on_exit = {}});
  process.close_input();
  output.status = process.wait_for(timeout);
  if (!output.status) process.terminate(std::chrono::milliseconds(500));
  return output;
}

}  // namespace trireme
