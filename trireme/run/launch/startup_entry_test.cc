// SPDX-License-Identifier: Apache-2.0
// Startups belong to launchers, and a training is started from plain values, without a command line.
#include "trireme/run/launch/startup_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/run/launch/training_start.h"

namespace trireme::run {
namespace {

using testing::HasSubstr;

TEST(Startups, BelongToLaunchers) {
  for (const StartupEntry& entry : launchers::catalog()) EXPECT_EQ(cluster::find_launcher(entry.launcher).name, entry.launcher);
}

TEST(Startups, RanksCanBeNodes) {
  for (const StartupEntry& entry : launchers::catalog()) EXPECT_EQ(entry.rank == nullptr, entry.run_node == nullptr) << entry.launcher;
}

TEST(Startups, OfALauncherWithoutAnEntryStartAllNodesByItsCommand) {
  const StartupEntry startup = startup_of("ssh");
  EXPECT_FALSE(startup.trains_alone);
  EXPECT_EQ(startup.rank, nullptr);
  EXPECT_EQ(startup.request, launched_nodes);
}

class Start : public testing::Test {
 protected:
  std::string shown(const NodesRequest& nodes) {
    out_.str("");
    TrainingStart(nodes, console_).show(training_);
    return out_.str();
  }

  std::ostringstream out_, err_;
  const Console console_{.out = out_, .err = err_};
  const TrainingRequest training_{.config = Config::parse_toml("model = { name = 'mlp_128' }\ndata = { name = 'synthetic_digits' }\n"
                                                               "train = { threads = 2 }\n",
                                                               "job.toml")};
};

TEST_F(Start, OfOneNodeIsThisProcess) {
  EXPECT_THAT(shown({.launcher = "local"}), HasSubstr("one process on this machine"));
  EXPECT_THAT(shown({.launcher = "local", .count = 1}), HasSubstr("one process on this machine"));
}

TEST_F(Start, OfSeveralNodesRunsTheProgramThatIsNamed) {
  const std::string commands = shown({.launcher = "local", .count = 2, .keep_nodes = 7, .program = "/opt/trireme"});
  EXPECT_THAT(commands, HasSubstr("/opt/trireme node --threads 1 --keep 7\n"));
  EXPECT_EQ(std::ranges::count(commands, '\n'), 2);
}

TEST_F(Start, ChoosesTheLauncherOfMachines) {
  const NodesRequest nodes{.machines = [] { return cluster::Inventory{.machines = {{.name = "a", .address = "a", .slots = 2}}}; },
                           .program = "/proc/self/exe"};
  EXPECT_THAT(shown(nodes), HasSubstr("ssh -T"));
  NodesRequest more = nodes;
  more.count = 3;
  EXPECT_THAT(thrown_error([&] { shown(more); }), HasSubstr("the machines have 2 slots"));
}

TEST_F(Start, RefusesLimitsThatContradictEachOther) {
  EXPECT_THAT(thrown_error([&] { shown({.launcher = "local", .count = 2, .min_nodes = 3, .max_nodes = 2}); }),
              HasSubstr("--min-nodes 3 is more than --max-nodes 2"));
}

}  // namespace
}  // namespace trireme::run
