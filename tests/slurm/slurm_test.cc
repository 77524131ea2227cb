// SPDX-License-Identifier: Apache-2.0
// Trainings in allocations of a real Slurm: to the end, cancelled, out of time, requeued, with a lost step or machine. Row F31 of the
// faults.
#include "trireme/cluster/launch/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/cluster/small_job.h"
#include "tests/slurm/test_slurm.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/cluster/process/munge.h"
#include "trireme/observe/journal_reader.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Long enough for whatever a test does meanwhile; it would end by itself.
constexpr const char* kLong = "train.epochs=3000";

class Slurm : public testing::Test {
 protected:
  Slurm() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    write_file_atomically(folder_ / "job.toml", small_job({.epochs = 40}));
  }
  ~Slurm() override { std::filesystem::remove_all(folder_); }

  // The script that `trireme export sbatch` writes.
  std::filesystem::path script(int nodes, const std::vector<std::string>& more = {}, const std::string& binary = TRIREME_BINARY) const {
    std::vector<std::string> command{binary, "export", "sbatch", (folder_ / "job.toml").string(), "--nodes", std::to_string(nodes)};
    command.insert(command.end(), more.begin(), more.end());
    const auto output = run_process(command, seconds(20));
    EXPECT_TRUE(output.status && output.status->is_success()) << output.err;
    write_file_atomically(folder_ / "batch.sh", output.out);
    return folder_ / "batch.sh";
  }
  std::string submit(const TestSlurm& slurm, const std::vector<std::string>& more = {}, int nodes = 3) const {
    return slurm.submit(script(nodes, more), folder_);
  }

  std::filesystem::path run_of(const std::string& id) const { return folder_ / ("slurm-" + id) / "latest"; }
  std::string log(const std::string& id) const {
    const auto file = folder_ / ("slurm-" + id + ".log");
    return std::filesystem::exists(file) ? read_file(file) : "no log";
  }
  std::int64_t steps(const std::string& id) const {
    if (!std::filesystem::exists(run_of(id) / "journal.jsonl")) return 0;
    return std::ranges::count(observe::read_journal(run_of(id) / "journal.jsonl"), "step", &observe::Record::type);
  }
  // Of each generation.
  std::vector<std::int64_t> workers(const std::string& id) const {
    std::vector<std::int64_t> counts;
    for (const observe::Record& record : observe::read_journal(run_of(id) / "journal.jsonl"))
      if (record.type == "generation") counts.push_back(record.integer("workers"));
    return counts;
  }
  bool is_under_way(const TestSlurm& slurm, const std::string& id) const {
    return slurm.wait_for_job(
        id, [&](const auto&) { return steps(id) > 20; }, seconds(60));
  }
  std::string final_model(const std::string& id) const {
    std::filesystem::path newest;
    for (const auto& entry : std::filesystem::directory_iterator(run_of(id) / "checkpoints")) newest = std::max(newest, entry.path());
    return read_file(newest / "model.safetensors") + read_file(newest / "optimizer.safetensors");
  }
  std::int64_t newest_step(const std::string& id) const {
    std::filesystem::path newest;
    for (const auto& entry : std::filesystem::directory_iterator(run_of(id) / "checkpoints")) newest = std::max(newest, entry.path());
    const std::string name = newest.filename();
    return std::stoll(name.substr(name.find_last_of('-') + 1));
  }
  // Of the line "interrupted after step N; the checkpoint is written".
  std::int64_t interrupted_step(const std::string& id) const {
    const std::string text = log(id);
    const std::size_t at = text.find("interrupted after step ");
    return at == std::string::npos ? -1 : std::stoll(text.substr(at + 23));
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("trireme_slurm_" + std::to_string(::getpid()));
};

TEST_F(Slurm, TheBatchScriptTrainsOnAllMachines) {
  const TestSlurm slurm(folder_ / "slurm");
  const std::string id = submit(slurm, {"--set", "train.epochs=3", "--cpus-per-task", "2"});
  ASSERT_TRUE(slurm.wait_for_end(id, seconds(120))) << log(id);
  EXPECT_EQ(slurm.job(id).at("JobState"), "COMPLETED") << log(id);
  EXPECT_EQ(slurm.job(id).at("ExitCode"), "0:0");
  EXPECT_THAT(log(id), AllOf(HasSubstr("3 workers of 2 threads on 3 machines"), HasSubstr("trained 3 epochs")));
  EXPECT_EQ(steps(id), 180);
  EXPECT_FALSE(final_model(id).empty());
}

TEST_F(Slurm, InsideAnAllocationItIsChosenByItself) {
  const TestSlurm slurm(folder_ / "slurm", {.machines = 2});
  const auto train = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command{"salloc",
                                     "--nodes=2",
                                     "--ntasks-per-node=2",
                                     TRIREME_BINARY,
                                     "train",
                                     (folder_ / "job.toml").string(),
                                     "--runs",
                                     (folder_ / "runs").string(),
                                     "--set",
                                     "train.epochs=1"};
    command.insert(command.end(), more.begin(), more.end());
    return run_process(command, seconds(120));
  };
  const auto chosen = train({});
  EXPECT_TRUE(chosen.status && chosen.status->is_success()) << chosen.err;
  EXPECT_THAT(chosen.err, HasSubstr("launcher slurm: this is inside Slurm's job "));
  EXPECT_THAT(chosen.out, HasSubstr("4 workers of 1 thread on 2 machines"));
  EXPECT_THAT(train({"--dry-run", "-n", "3", "--launcher", "slurm"}).out,
              AllOf(HasSubstr("[2 n2] srun "), HasSubstr("--nodelist=n2 "), Not(HasSubstr("[3 "))));
  EXPECT_THAT(train({"--dry-run", "--launcher", "local"}).out, HasSubstr("one process on this machine"));
  const auto many = run_process({"srun", "--nodes=2", TRIREME_BINARY, "train", (folder_ / "job.toml").string()}, seconds(60));
  EXPECT_EQ(many.status->code, 3);
  EXPECT_THAT(many.err, HasSubstr("srun started this program 2 times"));
}

TEST_F(Slurm, ACancelledJobLeavesACheckpoint) {
  const TestSlurm slurm(folder_ / "slurm");
  const std::string id = submit(slurm, {"--set", kLong, "--set", "train.checkpoint_seconds=1000"});
  ASSERT_TRUE(is_under_way(slurm, id)) << log(id);
  slurm.ask({"scancel", id});
  ASSERT_TRUE(slurm.wait_for_end(id, seconds(60)));
  EXPECT_EQ(slurm.job(id).at("JobState"), "CANCELLED") << log(id);
  EXPECT_GT(interrupted_step(id), 20) << log(id);
  EXPECT_EQ(newest_step(id), interrupted_step(id));
}

TEST_F(Slurm, AskedToStopItSaysSo) {
  const TestSlurm slurm(folder_ / "slurm", {.machines = 2});
  const std::string id = submit(slurm, {"--set", kLong, "--set", "train.checkpoint_seconds=1000"}, 2);
  ASSERT_TRUE(is_under_way(slurm, id)) << log(id);
  slurm.ask({"scancel", "--batch", "--signal=TERM", id});
  ASSERT_TRUE(slurm.wait_for_end(id, seconds(60)));
  EXPECT_EQ(slurm.job(id).at("JobState"), "FAILED") << log(id);
  EXPECT_EQ(slurm.job(id).at("ExitCode"), "143:0");
  EXPECT_EQ(newest_step(id), interrupted_step(id)) << log(id);
}

TEST_F(Slurm, ARequeuedJobGoesOnToTheSameBits) {
  const TestSlurm slurm(folder_ / "slurm");
  const std::string warm = submit(slurm, {"--set", "train.epochs=1"});  // finds the algorithms that the others use
  ASSERT_TRUE(slurm.wait_for_end(warm, seconds(120))) << log(warm);
  const std::string whole = submit(slurm);
  ASSERT_TRUE(slurm.wait_for_end(whole, seconds(120))) << log(whole);
  ASSERT_EQ(slurm.job(whole).at("JobState"), "COMPLETED") << log(whole);
  const std::string broken = submit(slurm);
  ASSERT_TRUE(is_under_way(slurm, broken)) << log(broken);
  slurm.ask({"scontrol", "requeue", broken});
  const auto is_again_over = [](const auto& job) { return job.at("Restarts") == "1" && job.at("JobState") == "COMPLETED"; };
  ASSERT_TRUE(slurm.wait_for_job(broken, is_again_over, seconds(120))) << log(broken);
  EXPECT_THAT(log(broken), AllOf(HasSubstr("continuing after step "), HasSubstr("trained 40 epochs"))) << log(broken);
  EXPECT_TRUE(final_model(whole) == final_model(broken));
}

TEST_F(Slurm, WhenItsTimeIsOverItWritesACheckpointAndIsRequeued) {
  const TestSlurm slurm(folder_ / "slurm", {.machines = 2});
  const std::string id = submit(slurm, {"--set", kLong, "--set", "train.checkpoint_seconds=1000", "--time", "1"}, 2);
  // Slurm looks at the limits every 30 s; the minute is shorter than the warning's distance, so the first look warns.
  ASSERT_TRUE(slurm.wait_for_job(
      id, [](const auto& job) { return job.at("Restarts") == "1" && job.at("JobState") == "RUNNING"; }, seconds(120)))
      << log(id);
  EXPECT_GT(interrupted_step(id), 0) << log(id);
  const bool goes_on = slurm.wait_for_job(
      id, [&](const auto&) { return log(id).find("continuing after step") != std::string::npos; }, seconds(60));
  EXPECT_TRUE(goes_on) << log(id);
  EXPECT_THAT(log(id), HasSubstr("continuing after step " + std::to_string(interrupted_step(id)) + " "));
}

TEST_F(Slurm, WithoutAKilledNodeItGoesOnUntilTheNodeIsBack) {
  const TestSlurm slurm(folder_ / "slurm");
  const std::string id = submit(slurm, {"--set", kLong});
  ASSERT_TRUE(is_under_way(slurm, id)) << log(id);
  slurm.ask({"scancel", "--signal=KILL", id + ".2"});  // .0 looked for the program
  const bool came_back = slurm.wait_for_job(
      id, [&](const auto&) { return workers(id).size() > 2 && workers(id).back() == 3; }, seconds(60));
  EXPECT_TRUE(came_back) << log(id);
  EXPECT_THAT(workers(id), ElementsAre(3, 2, 3));
  EXPECT_THAT(log(id), HasSubstr("killed by SIGKILL"));
  EXPECT_EQ(slurm.job(id).at("JobState"), "RUNNING");
}

TEST_F(Slurm, WithoutAMachineThatIsDownItGoesOn) {
  const TestSlurm slurm(folder_ / "slurm");
  const std::string id = submit(slurm, {"--set", kLong});
  ASSERT_TRUE(is_under_way(slurm, id)) << log(id);
  slurm.ask({"scontrol", "update", "NodeName=n3", "State=DOWN", "Reason=test"});
  ASSERT_TRUE(slurm.wait_for_job(
      id, [&](const auto&) { return workers(id).back() == 2; }, seconds(60)))
      << log(id);
  const std::int64_t before = steps(id);
  EXPECT_TRUE(slurm.wait_for_job(
      id, [&](const auto&) { return steps(id) > before + 100; }, seconds(60)))
      << log(id);
  EXPECT_EQ(slurm.job(id).at("JobState"), "RUNNING");
}

TEST_F(Slurm, AMachineWithoutTheProgramIsNamedBeforeAnythingStarts) {
  const auto own = folder_ / "own disk";
  std::filesystem::create_directories(own);
  std::filesystem::copy_file(TRIREME_BINARY, own / "trireme");
  const TestSlurm slurm(folder_ / "slurm", {.machines = 2, .hidden_folder = own});
  const std::string id = slurm.submit(script(2, {}, (own / "trireme").string()), folder_);
  ASSERT_TRUE(slurm.wait_for_end(id, seconds(60))) << log(id);
  EXPECT_EQ(slurm.job(id).at("ExitCode"), "3:0") << log(id);
  EXPECT_THAT(log(id), AllOf(HasSubstr("error: n2: the program "), HasSubstr("all machines share")));
  EXPECT_FALSE(std::filesystem::exists(run_of(id)));
}

// Of all processes that have `word` among their arguments: arguments and environment.
std::string exposed(const std::string& word) {
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    try {
      const std::string arguments = read_file(entry.path() / "cmdline");
      if (arguments.find(word) != std::string::npos) text += arguments + read_file(entry.path() / "environ");
    } catch (const Error&) {
      continue;  // no process, or gone meanwhile
    }
  }
  return text;
}

TEST_F(Slurm, SecretsAreNowhereToBeRead) {
  const TestSlurm slurm(folder_ / "slurm", {.machines = 2});
  const std::string id = submit(slurm, {"--set", kLong}, 2);
  ASSERT_TRUE(is_under_way(slurm, id)) << log(id);
  EXPECT_THAT(exposed("--nodelist=n2"), AllOf(HasSubstr("srun"), Not(HasSubstr("PRIVATE")), Not(HasSubstr("job_key"))));
  EXPECT_THAT(exposed("--threads"), AllOf(HasSubstr("node"), Not(HasSubstr("PRIVATE")), Not(HasSubstr("job_key"))));
  EXPECT_THAT(log(id), Not(HasSubstr("PRIVATE")));
}

// A srun in front of Slurm's own that takes down what it is given to carry.
void listen_to_srun(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::create_directories(folder / "overheard");
  write_file_atomically(folder / "bin/srun", fmt::format("#!/bin/sh\ntee '{}/overheard/'$$ | /usr/bin/srun \"$@\"\n", folder.string()));
  ::chmod((folder / "bin/srun").c_str(), 0755);
  ::setenv("PATH", fmt::format("{}:{}", (folder / "bin").string(), std::getenv("PATH")).c_str(), 1);
}

std::string captured_in(const std::filesystem::path& folder) {
  std::string text;
  for (const auto& file : std::filesystem::directory_iterator(folder / "overheard")) text += read_file(file.path());
  return text;
}

auto has_no_secret() { return AllOf(Not(HasSubstr("PRIVATE")), Not(HasSubstr("job_key")), Not(HasSubstr("certificate"))); }

TEST_F(Slurm, NoKeyGoesOverSrunInClear) {
  const TestSlurm slurm(folder_ / "slurm", {.machines = 2});
  listen_to_srun(folder_);
  const std::string id = submit(slurm, {"--set", "train.epochs=1"}, 2);
  ASSERT_TRUE(slurm.wait_for_end(id, seconds(60))) << log(id);
  EXPECT_EQ(slurm.job(id).at("JobState"), "COMPLETED") << log(id);
  EXPECT_THAT(captured_in(folder_), AllOf(HasSubstr("MUNGE:"), has_no_secret()));
}

TEST_F(Slurm, WithoutMungesProgramsKeysStandInASharedFolder) {
  const TestSlurm slurm(folder_ / "slurm", {.machines = 2});
  listen_to_srun(folder_);
  // One that fails stands for none.
  for (const char* name : {"munge", "unmunge"}) {
    write_file_atomically(folder_ / "bin" / name, "#!/bin/sh\nexit 1\n");
    ::chmod((folder_ / "bin" / name).c_str(), 0755);
  }
  const std::string id = submit(slurm, {"--set", "train.epochs=1"}, 2);
  ASSERT_TRUE(slurm.wait_for_end(id, seconds(60))) << log(id);
  EXPECT_EQ(slurm.job(id).at("JobState"), "COMPLETED") << log(id);
  EXPECT_THAT(captured_in(folder_), AllOf(HasSubstr("file " + (folder_ / "cache").string()), has_no_secret()));
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder_ / "cache")) {
    EXPECT_NE(file.path().extension(), ".secret") << file.path();
  }
}

TEST_F(Slurm, WithoutAnyOfThemItSaysSo) {
  const auto own = folder_ / "cache";
  std::filesystem::create_directories(own);
  const TestSlurm slurm(folder_ / "slurm", {.machines = 2, .hidden_folder = own});
  listen_to_srun(folder_);
  write_file_atomically(folder_ / "bin/munge", "#!/bin/sh\nexit 1\n");
  ::chmod((folder_ / "bin/munge").c_str(), 0755);
  const std::string id = submit(slurm, {"--set", "train.epochs=1"}, 2);
  ASSERT_TRUE(slurm.wait_for_end(id, seconds(60))) << log(id);
  EXPECT_EQ(slurm.job(id).at("JobState"), "COMPLETED") << log(id);
  EXPECT_THAT(log(id), HasSubstr("warning: the machines have neither munge's programs nor a cache folder that they share"));
  EXPECT_THAT(captured_in(folder_), HasSubstr("PRIVATE"));  // so the other tests would find it, too
}

TEST_F(Slurm, ACredentialIsForThisUserAndOnce) {
  const TestSlurm slurm(folder_ / "slurm", {.machines = 1});
  const std::string socket = (folder_ / "slurm/munge.socket").string();
  EXPECT_EQ(cluster::slurm_munge_socket(), socket);
  const std::string credential = cluster::munge_encode("the secret", socket);
  EXPECT_THAT(credential, Not(HasSubstr("secret")));
  write_file_atomically(folder_ / "credential", credential);
  ::chmod(folder_.c_str(), 0755);
  const auto stranger =
      run_process({"setpriv", "--reuid=65534", "--clear-groups", "unmunge", "--socket=" + socket}, seconds(10), folder_ / "credential");
  EXPECT_FALSE(stranger.status->is_success());
  EXPECT_THAT(stranger.err, HasSubstr("Unauthorized credential for client UID=65534"));
  EXPECT_THAT(stranger.out, Not(HasSubstr("the secret")));
  EXPECT_EQ(cluster::munge_decode(credential, socket), "the secret");
  EXPECT_THAT(thrown_error([&] { cluster::munge_decode(credential, socket); }),
              AllOf(HasSubstr("unauthenticated: "), HasSubstr("Replayed credential")));
  std::string changed = cluster::munge_encode("the secret", socket);
  changed[changed.size() / 2] = changed[changed.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_THAT(thrown_error([&] { cluster::munge_decode(changed, socket); }), HasSubstr("unauthenticated: "));
}

}  // namespace
}  // namespace trireme::tests
