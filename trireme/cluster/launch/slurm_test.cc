// SPDX-License-Identifier: Apache-2.0
// Tests of what needs no Slurm: its variables, the srun commands, and the batch script, which bash itself must find in order.
#include "trireme/cluster/launch/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "trireme/base/catalog_lookup.h"
#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"

namespace trireme::cluster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(SlurmVariables, CountsAreExpanded) {
  EXPECT_THAT(expand_counts("2(x3),1", "X"), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(expand_counts("16", "X"), ElementsAre(16));
  EXPECT_THAT(expand_counts("1,2(x2),40", "X"), ElementsAre(1, 2, 2, 40));
  for (const char* text : {"", "2(x3", "2(x)", "(x3)", "2,,1", "-1", "0", "2(x99999999)", "two", "1,", "2(x3)1"})
    EXPECT_THAT(thrown_error([&] { expand_counts(text, "SLURM_X"); }), StartsWith("invalid_argument")) << text;
}

constexpr std::string_view kRecords =
    "NodeName=n1 Arch=x86_64 CPUTot=2 NodeAddr=10.0.0.1 NodeHostName=a Version=22.05\n"
    "NodeName=n2 Arch=x86_64 CPUTot=2 NodeAddr=10.0.0.2 NodeHostName=b Version=22.05\n";

TEST(SlurmVariables, MachinesHaveASlotForEachTask) {
  const auto machines = slurm_machines({.tasks_per_node = "2,1(x2)", .cpus_per_node = "8,4(x2)"}, {"n1", "n2", "n3"}, kRecords);
  ASSERT_EQ(machines.size(), 3U);
  EXPECT_EQ(machines[0].name, "n1");
  EXPECT_EQ(machines[0].address, "10.0.0.1");
  EXPECT_EQ(machines[0].slots, 2);
  EXPECT_EQ(machines[0].cores, 8);
  EXPECT_EQ(machines[2].address, "n3") << "nothing is known of it but its name";
  EXPECT_EQ(plan_nodes(machines).size(), 4U);
  EXPECT_EQ(plan_nodes(machines)[1].threads, 4);
}

TEST(SlurmVariables, CpusOfATaskAreItsThreads) {
  const auto machines = slurm_machines({.tasks_per_node = "2", .cpus_per_node = "64", .cpus_per_task = "3"}, {"n1"}, kRecords);
  EXPECT_EQ(plan_nodes(machines)[0].threads, 3);
  EXPECT_EQ(plan_nodes(slurm_machines({}, {"n1"}, ""))[0].threads, 0) << "nothing is known";
}

TEST(SlurmVariables, WhatDoesNotFitIsRefused) {
  EXPECT_THAT(thrown_error([] { slurm_machines({.tasks_per_node = "2(x3)"}, {"n1"}, ""); }), HasSubstr("3 machines"));
  EXPECT_THAT(thrown_error([] { slurm_machines({}, {"--help"}, ""); }), StartsWith("invalid_argument"));
  EXPECT_THAT(thrown_error([] { slurm_machines({}, {"n1"}, "NodeName=n1 NodeAddr=$(id)"); }), StartsWith("invalid_argument"));
}

TEST(SlurmHandOver, MungesSocketIsTheConfigurations) {
  EXPECT_EQ(slurm_munge_socket("AuthAltTypes            = (null)\nAuthInfo                = socket=/run/other.socket,cred_expire=5\n"),
            "/run/other.socket");
  EXPECT_EQ(slurm_munge_socket("AuthInfo                = cred_expire=5,socket=/run/other.socket\n"), "/run/other.socket");
  EXPECT_EQ(slurm_munge_socket("AuthInfo                = (null)\n"), "");
  EXPECT_EQ(slurm_munge_socket(""), "");
}

TEST(SlurmHandOver, WithoutMungeASharedFolderAndElseNothing) {
  const std::string nowhere = "/nonexistent/munge.socket";
  EXPECT_EQ(slurm_hand_over({.unmunge = true, .folder = true}, nowhere, "/shared").way, HandOver::Way::file);
  EXPECT_EQ(slurm_hand_over({.unmunge = false, .folder = true}, nowhere, "/shared").folder, "/shared");
  EXPECT_EQ(slurm_hand_over({.unmunge = true, .folder = false}, nowhere, "/shared").way, HandOver::Way::as_is);
}

TEST(SlurmLauncher, ASrunForEachNode) {
  const NodePlan plan{.name = "1", .machine = {.name = "n2", .address = "10.0.0.2"}, .threads = 3};
  const auto command = find_entry(launchers::catalog(), "slurm", "launcher").command(plan, {.binary = "/opt/tri reme"});
  EXPECT_EQ(command.front(), "srun");
  EXPECT_THAT(as_typed(command), AllOf(HasSubstr("--overlap"), HasSubstr("--nodes=1 --ntasks=1 --nodelist=n2 "),
                                       HasSubstr("'/opt/tri reme' node --threads 3")));
}

TEST(SlurmLauncher, ExitsOfNodes) {
  EXPECT_EQ(node_exit_of_srun({.code = 137}).in_words(), "killed by SIGKILL");
  EXPECT_EQ(node_exit_of_srun({.code = 1}).in_words(), "exited with code 1");
  EXPECT_EQ(node_exit_of_srun({.code = 255}).in_words(), "exited with code 255");
  EXPECT_EQ(node_exit_of_srun({.signal = 9}).in_words(), "killed by SIGKILL");
}

struct SbatchScript : testing::Test {
  // What bash says to it, and what it would run in the place of trireme.
  static ProcessOutput dry(const SbatchOptions& options, const std::vector<std::string>& more) {
    const auto file = std::filesystem::path(testing::TempDir()) / ("trireme_sbatch_" + std::to_string(::getpid()));
    write_file_atomically(file, sbatch_script(options));
    std::vector<std::string> words{"bash"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(file.string());
    ProcessOutput output = run_process(words, std::chrono::seconds(20));
    std::filesystem::remove(file);
    return output;
  }
};

TEST_F(SbatchScript, HasWhatWasAskedFor) {
  const std::string text = sbatch_script({.binary = "/opt/trireme",
                                          .job = "/home/ann/my job.toml",
                                          .nodes = 3,
                                          .cpus_per_task = 8,
                                          .time = "1-12:00:00",
                                          .partition = "long,short"});
  for (const char* line : {"--nodes=3", "--cpus-per-task=8", "--time=1-12:00:00", "--partition=long,short", "--requeue",
                           "--open-mode=append", "--job-name=trireme-my_job", "--ntasks-per-node=1", "--no-kill"})
    EXPECT_THAT(text, HasSubstr(std::string("#SBATCH ") + line + "\n"));
  EXPECT_THAT(sbatch_script({.binary = "/t", .job = "/j"}), AllOf(Not(HasSubstr("--time=")), Not(HasSubstr("--partition="))));
}

TEST_F(SbatchScript, OddNamesAreOnlyNames) {
  const SbatchOptions options{.binary = "/bin/echo",
                              .job = "/home/it's $(touch trireme_canary) `id` \"x\"\n#SBATCH --nodes=9.toml",
                              .settings = {"model.title='a b'", "$HOME"}};
  EXPECT_TRUE(dry(options, {"-n"}).status->is_success());
  const ProcessOutput output = dry(options, {});
  EXPECT_TRUE(output.status && output.status->is_success()) << output.err;
  EXPECT_EQ(output.out, "train " + options.job.string() + " --runs slurm- --set model.title='a b' --set $HOME --launcher slurm\n");
  EXPECT_FALSE(std::filesystem::exists("trireme_canary"));
}

TEST_F(SbatchScript, TheExitCodeIsTheTrainings) {
  const SbatchOptions options{.binary = "/bin/false", .job = "/job.toml"};
  EXPECT_EQ(dry(options, {}).status->code, 1);
}

TEST_F(SbatchScript, RefusesWhatSbatchCouldMisread) {
  for (const char* time : {"1 --wrap=id", "1\n#SBATCH -w x", "$(id)", "--help"})
    EXPECT_THAT(thrown_error([&] { sbatch_script({.binary = "/t", .job = "/j", .time = time}); }), StartsWith("invalid_argument")) << time;
  EXPECT_THAT(thrown_error([] { sbatch_script({.binary = "/t", .job = "/j", .partition = "a b"}); }), StartsWith("invalid_argument"));
}

}  // namespace
}  // namespace trireme::cluster
