// SPDX-License-Identifier: Apache-2.0
// Every phase of a job meets every event: the table of docs/protocols.md is what the machine does.
#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <sstream>

#include "trireme/train/testing/job_script.h"

namespace trireme::train {
namespace {

constexpr std::array kPhases = {JobPhase::gathering, JobPhase::entering,   JobPhase::training,          JobPhase::pausing,
                                JobPhase::stopping,  JobPhase::recovering, JobPhase::waiting_for_nodes, JobPhase::shutting_down,
                                JobPhase::finished,  JobPhase::failed};
static_assert(kPhases.size() == static_cast<std::size_t>(JobPhase::failed) + 1);

// Three nodes, of which two are enough. While they gather one is missing; while they wait for nodes one is left.
JobOptions options() {
  JobOptions out;
  out.nodes = {"0", "1", "2"};
  out.min_nodes = 2;
  out.plan = parse_plan("allreduce");
  return out;
}

void lose(JobScript& job, const std::string& node) { job.feed(NodeLost{node, "connection closed", {}}); }

void bring_to(JobScript& job, JobPhase phase) {
  for (const char* node : {"0", "1"}) job.join(node);
  job.tick();
  if (phase == JobPhase::gathering) return;
  if (phase == JobPhase::failed) {
    job.feed(NodeRefused{"2", "another job"});
    return;
  }
  job.join("2");
  job.tick();
  if (phase == JobPhase::entering) return;
  job.feed(job.report("0", Entered{}));
  if (phase == JobPhase::pausing) job.feed(SwitchRequest{.to = "ps:async"});
  if (phase == JobPhase::stopping) job.feed(StopRequested{});
  if (phase == JobPhase::recovering || phase == JobPhase::waiting_for_nodes) lose(job, "2");
  if (phase == JobPhase::waiting_for_nodes) lose(job, "1");
  if (phase == JobPhase::waiting_for_nodes) job.tick(Seconds(0.31));
  if (phase == JobPhase::shutting_down || phase == JobPhase::finished) job.feed(job.report("0", Finish{}));
  job.tick(JobScript::kTick, phase == JobPhase::finished ? 0 : 3);
}

struct Row {
  std::string text;
  std::function<std::vector<JobEvent>(const JobScript&)> events;
  Seconds later = JobScript::kTick;  // when the tick after them comes
  std::size_t connected = 3;
};

using Script = const JobScript&;

// One waits for another, which has been reading for longer than can be explained; two looks, since the first one may be a pause of all.
std::vector<JobEvent> stall(Script /*job*/) {
  Heartbeats first{{{"0", {.step = 5, .phase = "wait", .seconds = 200, .waits_for = -1}},
                    {"1", {.step = 5, .phase = "exchange", .seconds = 200, .waits_for = 0}}}};
  Heartbeats second = first;
  second.progress["0"].seconds = 203;
  return {first, second};
}

NodeFailed failure(Script job, ErrorCode code) { return {"0", job.generation(), {.code = code, .text = "it went wrong"}, {}}; }

NodeFailed peer_report(Script job) {
  return {"0", job.generation(), {.code = unavailable, .text = "reset", .blames_peer = true, .peer = 1}, {}};
}

std::vector<Row> node_rows() {
  return {
      {"a node joins",
       [](Script) {
         return std::vector<JobEvent>{NodeJoined{"3", {}}};
       }},
      {"a node is ready",
       [](Script) {
         return std::vector<JobEvent>{NodeJoined{"3", {}}, NodeReady{"3"}};
       }},
      {"a node is refused",
       [](Script) {
         return std::vector<JobEvent>{NodeRefused{"3", "another job"}};
       }},
      {"a node can be started, too", [](Script) { return std::vector<JobEvent>{NodesAdded{{"3"}}}; }},
      {"a node can't be started",
       [](Script) {
         return std::vector<JobEvent>{StartFailed{"3", Error{aborted, "no process"}}};
       }},
      {"a member leaves", [](Script) { return std::vector<JobEvent>{NodeLeft{"0"}}; }},
      {"a member is lost",
       [](Script) {
         return std::vector<JobEvent>{NodeLost{"0", "connection closed", {}}};
       }},
      {"a member's process is killed", [](Script) { return std::vector<JobEvent>{NodeExit{.node = "0", .how = "killed"}}; }},
      {"a member's process exits",
       [](Script) { return std::vector<JobEvent>{NodeExit{.node = "0", .how = "exit code 1", .by_itself = true}}; }},
      {"a process runs out of memory again",
       [](Script) {
         const NodeExit exit{.node = "3", .how = "killed", .out_of_memory = true};
         return std::vector<JobEvent>{exit, exit};
       }},
      {"a member reports an error of its own", [](Script job) { return std::vector<JobEvent>{failure(job, data_loss)}; }},
      {"a member reports values that are not finite", [](Script job) { return std::vector<JobEvent>{failure(job, out_of_range)}; }},
      {"a member can't reach a peer", [](Script job) { return std::vector<JobEvent>{peer_report(job)}; }},
      {"heartbeats: all move", [](Script) { return std::vector<JobEvent>{Heartbeats{}}; }},
      {"heartbeats: a member stalls", stall},
  };
}

std::vector<Row> report_rows() {
  return {
      {"*entered*", [](Script job) { return std::vector<JobEvent>{job.report("0", Entered{})}; }},
      {"*paused*", [](Script job) { return std::vector<JobEvent>{job.report("0", Paused{})}; }},
      {"*leaving*", [](Script job) { return std::vector<JobEvent>{job.report("0", Leaving{})}; }},
      {"*finish*", [](Script job) { return std::vector<JobEvent>{job.report("0", Finish{})}; }},
      {"*finish* of another generation",
       [](Script job) {
         return std::vector<JobEvent>{GenerationReport{"0", job.generation() + 7, Finish{}}};
       }},
      {"*straggler*", [](Script job) { return std::vector<JobEvent>{job.report("0", StragglerRecord{.rank = 1, .slowness = 3})}; }},
      {"*slow link*", [](Script job) { return std::vector<JobEvent>{job.report("0", SlowLinkRecord{.rank = 1})}; }},
      {"record of a step", [](Script) { return std::vector<JobEvent>{StepRecord{.step = 1}}; }},
      {"record of an epoch", [](Script) { return std::vector<JobEvent>{EpochRecord{}}; }},
      {"record of a server", [](Script) { return std::vector<JobEvent>{ServerRecord{}}; }},
      {"record of a switch", [](Script) { return std::vector<JobEvent>{SwitchRecord{.to = "ps:async"}}; }},
  };
}

std::vector<Row> other_rows() {
  const auto none = [](Script) { return std::vector<JobEvent>{Tick{.connected = 3}}; };
  return {
      {"a checkpoint is written", [](Script) { return std::vector<JobEvent>{CheckpointRecord{.step = 1}}; }},
      {"a checkpoint can't be written",
       [](Script) {
         return std::vector<JobEvent>{CheckpointFailed{Error{resource_exhausted, "full"}}};
       }},
      {"switch by hand", [](Script) { return std::vector<JobEvent>{SwitchRequest{.to = "ps:bsp"}}; }},
      {"stop by the user", [](Script) { return std::vector<JobEvent>{StopRequested{}}; }},
      {"the last node disconnects", [](Script) { return std::vector<JobEvent>{}; }, JobScript::kTick, 0},
      {"0.02 s pass", none},
      {"0.3 s pass", none, Seconds(0.31)},
      {"10 s pass", none, Seconds(10)},
      {"120 s pass (`--start-timeout`)", none, Seconds(120.1)},
  };
}

std::vector<Row> rows() {
  std::vector<Row> out = node_rows();
  for (Row& row : report_rows()) out.push_back(std::move(row));
  for (Row& row : other_rows()) out.push_back(std::move(row));
  return out;
}

struct Outcome {
  JobPhase phase = JobPhase::failed;
  bool is_announced = false;  // another generation
};

Outcome after(JobPhase phase, const Row& row) {
  JobScript job(options());
  bring_to(job, phase);
  EXPECT_EQ(name_of(job.phase()), name_of(phase)) << "the script does not lead there";
  const std::uint64_t generation = job.generation();
  job.feed(row.events(job));
  job.tick(row.later, row.connected);
  return {job.phase(), job.generation() != generation};
}

bool is_end(JobPhase phase) { return phase == JobPhase::finished || phase == JobPhase::failed; }

// A row for each event, a column for each phase that is not the end; in it the phase that follows, or nothing if it lasts.
std::string table() {
  std::string head = "| event |";
  std::string line = "|---|";
  for (const JobPhase phase : kPhases) {
    if (is_end(phase)) continue;
    head += fmt::format(" {} |", name_of(phase));
    line += "---|";
  }
  std::string out = head + "\n" + line + "\n";
  for (const Row& row : rows()) {
    out += fmt::format("| {} |", row.text);
    for (const JobPhase phase : kPhases) {
      if (is_end(phase)) continue;
      const Outcome next = after(phase, row);
      out += next.phase == phase && !next.is_announced ? " |" : fmt::format(" {} |", name_of(next.phase));
    }
    out += "\n";
  }
  return out;
}

TEST(JobTransitions, AreThoseOfTheDocumentedTable) {
  const std::filesystem::path page = "docs/protocols.md";  // tests run in the root of the source tree
  std::ifstream file(page);
  ASSERT_TRUE(file) << page << " is not there; run this test in the root of the source tree";
  std::stringstream text;
  text << file.rdbuf();
  const std::string expected = table();
  EXPECT_TRUE(text.str().find(expected) != std::string::npos) << page << " must contain this table, line by line:\n" << expected;
}

TEST(JobTransitions, NothingLeadsOutOfTheEnd) {
  for (const Row& row : rows())
    for (const JobPhase phase : {JobPhase::finished, JobPhase::failed}) EXPECT_EQ(after(phase, row).phase, phase) << row.text;
}

TEST(JobTransitions, EveryKindOfEventStandsInTheTable) {
  const JobScript job(options());
  std::set<std::size_t> events{std::variant_size_v<JobEvent> - 1};  // the tick that follows every event
  std::set<std::size_t> reports;
  for (const Row& row : rows())
    for (const JobEvent& event : row.events(job)) {
      events.insert(event.index());
      if (const auto* const report = std::get_if<GenerationReport>(&event)) reports.insert(report->content.index());
    }
  EXPECT_EQ(events.size(), std::variant_size_v<JobEvent>) << "an event has no row";
  EXPECT_EQ(reports.size(), std::variant_size_v<decltype(GenerationReport::content)>) << "a report has no row";
}

// What nodes rely on: generations are counted without a gap, have members, and end when the nodes are dismissed.
class Announcements {
 public:
  void check(const std::vector<std::string>& actions) {
    for (const std::string& action : actions) {
      if (action.starts_with("announce")) check_announcement(action);
      is_dismissed_ = is_dismissed_ || action == "dismiss all";
    }
  }

 private:
  void check_announcement(const std::string& action) {
    EXPECT_FALSE(is_dismissed_) << action;
    EXPECT_TRUE(action.starts_with(fmt::format("announce generation {} of nodes ", ++number_))) << action;
    EXPECT_EQ(action.find("of nodes ,"), std::string::npos) << action;
  }

  std::uint64_t number_ = 0;
  bool is_dismissed_ = false;
};

TEST(JobTransitions, NoOrderOfEventsBreaksWhatNodesRelyOn) {
  std::vector<Row> all = rows();
  std::erase_if(
      all, [](const Row& row) { return row.text.find("finite") != std::string::npos || row.text.find("memory") != std::string::npos; });
  std::mt19937 random(1);
  const auto any_node = [&] { return std::to_string(random() % 4); };
  for (int round = 0; round < 500; ++round) {
    JobScript job(options());
    Announcements announcements;
    for (int i = 0; i < 60; ++i) {
      const Row& row = all[random() % all.size()];
      const JobPhase before = job.phase();
      announcements.check(job.feed({NodeJoined{any_node(), {}}, NodeReady{any_node()}}));
      announcements.check(job.feed(row.events(job)));
      announcements.check(job.tick(row.later, row.connected));
      EXPECT_TRUE(!is_end(before) || job.phase() == before) << row.text;
    }
  }
}

}  // namespace
}  // namespace trireme::train
