// SPDX-License-Identifier: Apache-2.0
// Starts nodes as child processes and ends them together.
#include "trireme/cluster/launch.h"

#include <fmt/format.h>

#include <condition_variable>
#include <csignal>
#include <mutex>

namespace trireme::cluster {
namespace {

using std::chrono::milliseconds;

std::string exit_in_words(const ExitStatus& status, const LauncherEntry& launcher) {
  constexpr int kSshFailed = 255;
  if (launcher.is_remote && status.signal == 0 && status.code == kSshFailed)
    return "lost: the ssh connection broke, or the node was killed on its machine";
  return launcher.in_words != nullptr ? launcher.in_words(status) : status.in_words();
}

}  // namespace

struct Launch::State {
  LauncherEntry launcher;
  LaunchEvents events;
  std::mutex event_mutex;  // one event at a time
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<NodeExit> exits;
  std::vector<std::unique_ptr<Process>> processes;

  void start(Node& node, const LaunchOptions& options) {
    const std::string name = node.plan.name;
    const std::string machine = node.plan.machine.name;
    processes.push_back(std::make_unique<Process>(
        ProcessOptions{.argv = launcher.command(node.plan, options),
                       .input = std::move(node.input),
                       .input_file = {},
                       .on_line = [this, name](Stream, std::string_view line) { tell_line(name, line); },
                       .on_exit =
                           [this, name, machine](const ExitStatus& status) {
                             tell_exit({.node = name, .machine = machine, .status = status, .words = exit_in_words(status, launcher)});
                           }}));
  }

  void tell_line(const std::string& node, std::string_view line) {
    const std::scoped_lock lock(event_mutex);
    if (events.on_line) events.on_line(node, line);
  }

  void tell_exit(const NodeExit& exit) {
    {
      const std::scoped_lock lock(event_mutex);
      if (events.on_exit) events.on_exit(exit);
    }
    const std::scoped_lock lock(mutex);
    exits.push_back(exit);
    changed.notify_all();
  }

  bool wait_for(milliseconds timeout) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, timeout, [&] { return exits.size() == processes.size(); });
  }

  void signal_all(int number) {
    for (const auto& process : processes) process->signal(number);
  }

  void end(milliseconds grace) {
    constexpr auto kToObey = milliseconds(1000);
    for (const auto& process : processes) process->close_input();
    if (wait_for(grace)) return;
    signal_all(SIGTERM);
    if (wait_for(kToObey)) return;
    signal_all(SIGKILL);
    wait_for(kToObey);
  }
};

Launch::Launch(const LauncherEntry& launcher, const LaunchOptions& options, std::vector<Node> nodes, LaunchEvents events)
    : state_(std::make_unique<State>()) {
  state_->launcher = launcher;
  state_->events = std::move(events);
  try {
    for (Node& node : nodes) state_->start(node, options);
  } catch (...) {
    state_->end(milliseconds(0));
    throw;
  }
}

Launch::~Launch() {
  constexpr auto kGrace = milliseconds(2000);
  end(kGrace);
  state_->processes.clear();  // before what their threads use
}

std::vector<NodeExit> Launch::exits() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->exits;
}

bool Launch::wait_for(milliseconds timeout) { return state_->wait_for(timeout); }
void Launch::end(milliseconds grace) { state_->end(grace); }

}  // namespace trireme::cluster
