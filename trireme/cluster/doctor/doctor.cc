// SPDX-License-Identifier: Apache-2.0
// Leads the agents on the machines through the examination.
#include "trireme/cluster/doctor/doctor.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/json.h"
#include "trireme/base/process.h"
#include "trireme/cluster/doctor/doctor_agent.h"
#include "trireme/cluster/inventory/addresses.h"
#include "trireme/cluster/launch/ssh.h"

namespace trireme::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kAnswerLimit = seconds(25);  // the longest answer is a link's that breaks in the middle

// An agent that runs on a machine.
class AgentSession {
 public:
  AgentSession(const Machine& machine, const std::vector<std::string>& command)
      : name_(machine.name),
        process_({.argv = command,
                  .input = {},
                  .input_file = {},
                  .on_line = [this](Stream, std::string_view line) { take(line); },
                  .on_exit = [this](const ExitStatus& status) { take_exit(status); }}) {}

  Json ask(const std::string& question) {
    process_.send(question + "\n");
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kAnswerLimit, [&] { return !answers_.empty() || !end_.empty(); }))
      throw Error{deadline_exceeded, "{}: no answer within {} s", name_, kAnswerLimit.count()};
    if (answers_.empty()) throw Error{unavailable, "{}: the examination broke off: {} ({})", name_, end_, last_line_};
    Json answer = parse_json_or_discard(answers_.front());
    answers_.pop_front();
    if (!answer.is_object()) throw Error{data_loss, "{}: an answer that can't be read", name_};
    if (answer.contains("error")) throw Error{failed_precondition, "{}: {}", name_, answer["error"].get<std::string>()};
    return answer;
  }

  // The agent leaves when its input ends, and ssh after it.
  void close() {
    constexpr auto kLimit = seconds(3);
    process_.close_input();
    process_.wait_for(kLimit);
  }

 private:
  void take(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    const std::size_t at = line.find(kAgentMark);
    if (at == std::string_view::npos) {
      last_line_ = line;
      return;
    }
    answers_.emplace_back(line.substr(at + kAgentMark.size()));
    changed_.notify_all();
  }

  void take_exit(const ExitStatus& status) {
    const std::scoped_lock lock(mutex_);
    end_ = status.in_words();
    changed_.notify_all();
  }

  std::string name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> answers_;
  std::string last_line_;
  std::string end_;
  Process process_;  // last, as its thread uses the others
};

std::string secret() {
  std::random_device source;
  std::string text;
  constexpr int kWords = 8;
  for (int i = 0; i < kWords; ++i) text += fmt::format("{:08x}", source());
  return text;
}

// One thread for each; what it throws must be caught inside.
void for_all(std::size_t count, const std::function<void(std::size_t)>& action) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&, i] { action(i); });
  for (std::thread& thread : threads) thread.join();
}

struct Patient {
  std::unique_ptr<AgentSession> agent;  // none: it can't be examined
  std::int64_t port = 0;                // of its listener
};

class Doctor {
 public:
  Doctor(const std::vector<Machine>& machines, LaunchOptions options)
      : options_(std::move(options)), token_(secret()), patients_(machines.size()) {
    for (const Machine& machine : machines) examination_.machines.push_back({.machine = machine, .error = {}, .warnings = {}, .facts = {}});
    if (options_.binary_hash.empty()) options_.binary_hash = digest_of_file(Digest::Kind::sha256, options_.binary);
  }

  Examination run(const OnShippingEvent& on_event) {
    log_in(on_event);
    for_all(patients_.size(), [&](std::size_t i) { careful(i, [&] { look_at(i); }); });
    for (std::size_t shift = 1; shift < patients_.size(); ++shift) try_round(shift);
    try_way_back();
    for_all(patients_.size(), [&](std::size_t i) { careful(i, [&] { patients_[i].agent->close(); }); });
    return std::move(examination_);
  }

 private:
  void careful(std::size_t i, const std::function<void()>& action) {
    if (!patients_[i].agent) return;
    try {
      action();
    } catch (const std::exception& error) {  // a finding: the other machines are examined all the same
      examination_.machines[i].error = error.what();
      patients_[i].agent.reset();
    }
  }

  void log_in(const OnShippingEvent& on_event) {
    std::vector<Machine> machines;
    for (const MachineCheck& check : examination_.machines) machines.push_back(check.machine);
    const std::vector<ShippingReport> reports = ship(machines, options_, on_event);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      examination_.machines[i].error = reports[i].error;
      examination_.machines[i].warnings = reports[i].warnings;
      if (!reports[i].error.empty()) continue;
      const Libraries libraries = reports[i].has_shipped_libraries ? Libraries::shipped : Libraries::of_the_machine;
      const std::string script = start_script(options_.binary_hash, {"doctor-agent"}, libraries);
      patients_[i].agent = std::make_unique<AgentSession>(machines[i], ssh_command(machines[i], options_, script));
    }
  }

  void look_at(std::size_t i) {
    MachineCheck& check = examination_.machines[i];
    AgentSession& agent = *patients_[i].agent;
    check.facts = facts_from_json(agent.ask("facts").at("facts").dump());
    ask_time(agent, check);
    patients_[i].port = agent.ask(fmt::format("listen {} {}", check.machine.address, token_)).at("port");
  }

  // Of several questions the quickest says most: the answer was given somewhere between asking and hearing.
  static void ask_time(AgentSession& agent, MachineCheck& check) {
    using Wall = std::chrono::system_clock;
    const auto now = [] { return std::chrono::duration<double>(Wall::now().time_since_epoch()).count(); };
    constexpr int kQuestions = 5;
    check.clock_uncertainty = 1e9;
    for (int question = 0; question < kQuestions; ++question) {
      const double asked = now();
      const double theirs = agent.ask("time").at("time");
      const double answered = now();
      if ((answered - asked) / 2 > check.clock_uncertainty) continue;
      check.clock_uncertainty = (answered - asked) / 2;
      check.clock_ahead = theirs - (asked + answered) / 2;
    }
  }

  struct Way {
    std::size_t from;
    std::size_t to;
    std::string address;
    std::int64_t port;
  };

  // Each machine tries the one `shift` places further.
  void try_round(std::size_t shift) {
    std::vector<Way> ways;
    for (std::size_t from = 0; from < patients_.size(); ++from) {
      const std::size_t to = (from + shift) % patients_.size();
      if (patients_[to].port != 0) ways.push_back({from, to, examination_.machines[to].machine.address, patients_[to].port});
    }
    try_ways(ways);
  }

  // A coordinator runs here, so nodes must be able to connect to this machine.
  void try_way_back() {
    constexpr auto kLifetime = seconds(60);
    std::vector<Way> ways;
    std::vector<std::unique_ptr<LinkListener>> listeners;
    for (std::size_t from = 0; from < patients_.size(); ++from) {
      careful(from, [&] {
        const std::string address = address_towards(examination_.machines[from].machine.address);
        listeners.push_back(std::make_unique<LinkListener>(address, token_, kLifetime));
        ways.push_back({from, kHere, address, listeners.back()->port()});
      });
    }
    try_ways(ways);
  }

  // Round trips first: they would say little while others send.
  void try_ways(const std::vector<Way>& ways) {
    std::vector<LinkResult> round_trips(ways.size());
    for_all(ways.size(), [&](std::size_t i) { careful(ways[i].from, [&] { round_trips[i] = connect(ways[i], milliseconds(0)); }); });
    for_all(ways.size(), [&](std::size_t i) {
      careful(ways[i].from, [&] {
        LinkResult result = round_trips[i];
        if (result.fault.empty()) result = connect(ways[i], LinkTry{}.sending);
        if (result.fault.empty()) result.round_trip = round_trips[i].round_trip;
        add_link(ways[i], std::move(result));
      });
    });
  }

  LinkResult connect(const Way& way, milliseconds sending) {
    const Json answer = patients_[way.from].agent->ask(fmt::format("connect {} {} {} {}", way.address, way.port, token_, sending.count()));
    return {.fault = answer.at("fault"),
            .words = answer.at("words"),
            .round_trip = answer.at("round_trip"),
            .bits_per_second = answer.at("bits_per_second")};
  }

  void add_link(const Way& way, LinkResult result) {
    const std::scoped_lock lock(links_mutex_);
    examination_.links.push_back({.from = way.from,
                                  .to = way.to,
                                  .from_address = examination_.machines[way.from].machine.address,
                                  .to_address = way.address,
                                  .result = std::move(result)});
  }

  LaunchOptions options_;
  std::string token_;
  std::vector<Patient> patients_;
  std::mutex links_mutex_;
  Examination examination_;
};

}  // namespace

Examination examine(const std::vector<Machine>& machines, const LaunchOptions& options, const OnShippingEvent& on_event) {
  Examination examination = Doctor(machines, options).run(on_event);
  std::sort(examination.links.begin(), examination.links.end(),
            [](const LinkCheck& a, const LinkCheck& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
  return examination;
}

std::string name_of_place(const Examination& examination, std::size_t place) {
  return place == kHere ? "this machine" : examination.machines.at(place).machine.name;
}

}  // namespace trireme::cluster
