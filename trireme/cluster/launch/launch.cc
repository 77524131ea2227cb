// SPDX-License-Identifier: Apache-2.0
// Starts nodes as child processes and ends them together.
#include "trireme/cluster/launch/launch.h"

#include <fmt/format.h>

#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>

#include "trireme/base/rollback.h"
#include "trireme/cluster/process/memory_group.h"

namespace trireme::cluster {
namespace {

using std::chrono::milliseconds;

bool is_of_the_connection(const ExitStatus& status, const LauncherEntry& launcher) {
  constexpr int kSshFailed = 255;
  return launcher.is_remote && status.signal == 0 && status.code == kSshFailed;
}

std::int64_t kills_in(const std::optional<MemoryGroup>& group) { return group ? group->kills : 0; }

std::string exit_in_words(const ExitStatus& status, const LauncherEntry& launcher) {
  if (is_of_the_connection(status, launcher)) return "lost: the ssh connection broke, or the node was killed on its machine";
  return status.in_words();
}

}  // namespace

struct Launch::State {
  LauncherEntry launcher;
  LaunchOptions options;
  LaunchEvents events;
  std::mutex event_mutex;  // one event at a time
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<NodeExit> exits;
  std::size_t running = 0;
  std::map<std::string, std::unique_ptr<Process>> processes;  // by the node's name
  std::int64_t memory_kills = kills_in(memory_group());       // of this machine's group; those before the launch were not its nodes

  void start(Node node) {
    const std::string name = node.plan.name;
    const std::string machine = node.plan.machine.name;
    processes.erase(name);
    {
      const std::scoped_lock lock(mutex);
      ++running;
    }
    Rollback started([this, name] {
      processes.erase(name);
      const std::scoped_lock lock(mutex);
      --running;
    });
    processes[name] = std::make_unique<Process>(
        ProcessOptions{.argv = launcher.command(node.plan, options),
                       .input = handed_over(std::move(node.input), options.hand_over),
                       .input_file = {},
                       .outlives_us = !launcher.is_remote && node.plan.keep > 0,
                       .on_line = [this, name](Stream, std::string_view line) { report_line(name, line); },
                       .on_exit = [this, name, machine](const ExitStatus& status) { report_exit(name, machine, status); }});
    started.keep();
  }

  void report_line(const std::string& node, std::string_view line) {
    const std::scoped_lock lock(event_mutex);
    if (events.on_line) events.on_line(node, line);
  }

  void report_exit(const std::string& name, const std::string& machine, const ExitStatus& of_command) {
    const ExitStatus status = launcher.of_node != nullptr ? launcher.of_node(of_command) : of_command;
    NodeExit exit{.node = name,
                  .machine = machine,
                  .status = status,
                  .words = exit_in_words(status, launcher),
                  .by_itself = status.signal == 0 && !is_of_the_connection(status, launcher)};
    {
      const std::scoped_lock lock(event_mutex);
      look_for_memory(exit);
      if (events.on_exit) events.on_exit(exit);
    }
    const std::scoped_lock lock(mutex);
    exits.push_back(exit);
    --running;
    changed.notify_all();
  }

  // Nodes of this machine are in this process's group. The kernel counts before it kills.
  void look_for_memory(NodeExit& exit) {
    if (launcher.is_remote || launcher.of_node != nullptr || exit.status.signal != SIGKILL) return;
    const auto group = memory_group();
    if (kills_in(group) <= memory_kills) return;
    ++memory_kills;
    exit.out_of_memory = true;
    exit.words += fmt::format(", {}", out_of_memory_text(*group));
  }

  bool wait_for(milliseconds timeout) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, timeout, [&] { return running == 0; });
  }

  void signal_all(int number) {
    for (const auto& [name, process] : processes) process->signal(number);
  }

  void end(milliseconds grace) {
    constexpr auto kToObey = milliseconds(1000);
    for (const auto& [name, process] : processes) process->close_input();
    if (wait_for(grace)) return;
    signal_all(SIGTERM);
    if (wait_for(kToObey)) return;
    signal_all(SIGKILL);
    wait_for(kToObey);
  }
};

Launch::Launch(const LauncherEntry& launcher, LaunchOptions options, std::vector<Node> nodes, LaunchEvents events)
    : state_(std::make_unique<State>()) {
  state_->launcher = launcher;
  state_->options = std::move(options);
  state_->events = std::move(events);
  Rollback started([this] { state_->end(milliseconds(0)); });
  for (Node& node : nodes) state_->start(std::move(node));
  started.keep();
}

void Launch::start(Node node) { state_->start(std::move(node)); }

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
