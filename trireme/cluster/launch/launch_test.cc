// SPDX-License-Identifier: Apache-2.0
// Tests of launches with processes of this machine.
#include "trireme/cluster/launch/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <mutex>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

// A launcher whose nodes run the script that stands in the machine's name.
LauncherEntry scripts(bool is_remote = false) {
  return {.name = "scripts",
          .summary = "",
          .command =
              [](const NodePlan& plan, const LaunchOptions&) {
                return std::vector<std::string>{"sh", "-c", plan.machine.name};
              },
          .is_remote = is_remote};
}

Launch::Node node(std::string name, std::string script, std::string input = "") {
  Launch::Node node;
  node.plan.name = std::move(name);
  node.plan.machine.name = std::move(script);
  node.input = std::move(input);
  return node;
}

struct Record {
  std::multimap<std::string, std::string> lines;
  std::map<std::string, std::string> exits;

  LaunchEvents events() {
    return {.on_line = [this](std::string_view node, std::string_view line) { lines.emplace(node, line); },
            .on_exit = [this](const NodeExit& exit) { exits.emplace(exit.node, exit.words); }};
  }
};

TEST(Launch, LinesAndExitsOfEachNode) {
  Record record;
  Launch launch(
      scripts(), {},
      {node("0", "read x; echo got $x; echo oh >&2", "a\n"), node("1", "read x; echo got $x; exit 4", "b\n"), node("2", "kill -9 $$")},
      record.events());
  ASSERT_TRUE(launch.wait_for(seconds(10)));
  EXPECT_THAT(record.lines, UnorderedElementsAre(Pair("0", "got a"), Pair("0", "oh"), Pair("1", "got b")));
  EXPECT_THAT(record.exits, ElementsAre(Pair("0", "exited with code 0"), Pair("1", "exited with code 4"), Pair("2", "killed by SIGKILL")));
  EXPECT_EQ(launch.exits().size(), 3U);
}

TEST(Launch, NodesLeaveWhenTheirInputEnds) {
  Record record;
  Launch launch(scripts(), {}, {node("0", "cat; echo left"), node("1", "cat; exit 9")}, record.events());
  EXPECT_FALSE(launch.wait_for(milliseconds(50)));
  launch.end(seconds(10));
  EXPECT_THAT(record.lines, ElementsAre(Pair("0", "left")));
  EXPECT_THAT(record.exits, ElementsAre(Pair("0", "exited with code 0"), Pair("1", "exited with code 9")));
}

TEST(Launch, TheDeafAreKilledInTime) {
  const auto start = std::chrono::steady_clock::now();
  Record record;
  {
    Launch launch(scripts(), {}, {node("0", "trap '' TERM; while :; do sleep 0.01; done"), node("1", "sleep 100")}, record.events());
    launch.end(milliseconds(100));
  }
  EXPECT_THAT(record.exits, ElementsAre(Pair("0", "killed by SIGKILL"), Pair("1", "killed by SIGTERM")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
}

TEST(Launch, ALostConnectionIsDistinguished) {
  Record record;
  Launch launch(scripts(true), {}, {node("0", "exit 255")}, record.events());
  ASSERT_TRUE(launch.wait_for(seconds(10)));
  EXPECT_THAT(record.exits.at("0"), HasSubstr("the ssh connection broke"));
}

TEST(Launch, AllOrNone) {
  Record record;
  LauncherEntry launcher = scripts();
  launcher.command = [](const NodePlan& plan, const LaunchOptions&) {
    return plan.name == "1" ? std::vector<std::string>{"/no/such/program"} : std::vector<std::string>{"sleep", "100"};
  };
  EXPECT_THAT(thrown_error([&] {
                Launch launch(launcher, {}, {node("0", ""), node("1", "")}, record.events());
              }),
              HasSubstr("cannot start /no/such/program"));
  EXPECT_EQ(record.exits.size(), 1U);
}

}  // namespace
}  // namespace trireme::cluster
