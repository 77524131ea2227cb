// SPDX-License-Identifier: Apache-2.0
// Tests of select and export as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "trireme/base/files.h"
#include "trireme/base/json.h"
#include "trireme/cli/testing/program.h"
#include "trireme/run/terminal/exit_code.h"

namespace trireme::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct ClusterCommands : testing::Test {
  ClusterCommands() {
    std::filesystem::create_directories(folder);
    write_file_atomically(blueprint,
                          R"({"connections": [
 {"IP": "147.102.19.131", "GPUS": 0, "energy efficient": "yes"}, {"IP": "147.102.19.132", "GPUS": 0, "energy efficient": yes},
 {"IP": "147.102.19.133", "GPUS": 0 "energy efficient": "no"}, {"IP": "147.102.19.4", "GPUS": 1, "energy_efficient": "no"},
 {"IP": "147.102.19.7", "GPUS": 1, "energy efficient": "no"}]})");
  }
  ~ClusterCommands() override { std::filesystem::remove_all(folder); }
  ClusterCommands(const ClusterCommands&) = delete;
  ClusterCommands& operator=(const ClusterCommands&) = delete;

  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("trireme_cluster_commands_" + std::to_string(::getpid()));
  std::string blueprint = (folder / "blueprint.json").string();
};

TEST_F(ClusterCommands, SelectTakesEverySpelling) {
  const std::string gpus = "147.102.19.4:2223\n147.102.19.7:2223\n";
  const std::string cpus = "147.102.19.131:2223\n147.102.19.132:2223\n147.102.19.133:2223\n";
  for (const std::string flag : {"--gpus", "--gpu", "-gpus", "-gpu"}) EXPECT_EQ(run({"select", blueprint, flag}).out, gpus) << flag;
  for (const std::string flag : {"--cpus", "--cpu", "-cpus", "-cpu"}) EXPECT_EQ(run({"select", flag, blueprint}).out, cpus) << flag;
  for (const std::string flag : {"--energy", "-energy"})
    EXPECT_EQ(run({"select", blueprint, flag}).out, "147.102.19.131:2223\n147.102.19.132:2223\n") << flag;
  EXPECT_EQ(run({"select", blueprint}).out, cpus + gpus);
  EXPECT_EQ(run({"select", blueprint, "-all"}).out, cpus + gpus);
  EXPECT_EQ(run({"select", blueprint, "--gpus", "--port", "5000"}).out, "147.102.19.4:5000\n147.102.19.7:5000\n");
}

TEST_F(ClusterCommands, OfSeveralSelectionsOneWins) {
  const Result result = run({"select", blueprint, "-gpus", "-cpus", "-energy"});
  EXPECT_EQ(result.out, "147.102.19.131:2223\n147.102.19.132:2223\n147.102.19.133:2223\n");
  EXPECT_THAT(result.err, HasSubstr("of several selections --cpus is taken"));
  EXPECT_EQ(run({"select", blueprint, "-energy", "-gpus", "-all"}).out, "147.102.19.4:2223\n147.102.19.7:2223\n");
}

TEST_F(ClusterCommands, SelectReportsMendings) {
  const Result result = run({"select", blueprint});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("blueprint.json:3: a comma is missing"));
}

TEST_F(ClusterCommands, SelectAsJson) {
  const Result result = run({"select", blueprint, "--energy", "--json"});
  const auto document = parse_json(result.out);
  EXPECT_EQ(document["selection"], "energy");
  EXPECT_EQ(document["workers"][1], "147.102.19.132:2223");
  EXPECT_EQ(document["machines"][0]["energy_efficient"], true);
}

TEST_F(ClusterCommands, MachinesFromFlags) {
  EXPECT_EQ(run({"select", "-H", "a:2,b"}).out, "a:2223\na:2224\nb:2223\n");
  const std::string hosts = (folder / "hosts").string();
  write_file_atomically(hosts, "h1\nh2\n");
  EXPECT_EQ(run({"select", "--hostfile", hosts}).out, "h1:2223\nh2:2223\n");
  EXPECT_EQ(run({"select", hosts}).out, "h1:2223\nh2:2223\n");
  EXPECT_THAT(run({"select", hosts, "-H", "a"}).err, HasSubstr("machines are named twice"));
  EXPECT_EQ(run({"select"}).code, run::exit_usage);
}

TEST_F(ClusterCommands, NoMachineLeftIsAPreflightError) {
  const Result result = run({"select", "-H", "a,b", "--gpus"});
  EXPECT_EQ(result.code, run::exit_preflight);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("no machine with a GPU"));
}

TEST_F(ClusterCommands, ExportWritesAFileForEachWorker) {
  const Result result = run({"export", "tf_config", blueprint, "--gpus", "--out", (folder / "out").string()});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto config = parse_json(read_file(folder / "out" / "worker-1.json"));
  EXPECT_EQ(config["cluster"]["worker"], (std::vector<std::string>{"147.102.19.4:2223", "147.102.19.7:2223"}));
  EXPECT_EQ(config["task"]["index"], 1);
  EXPECT_EQ(config["task"]["type"], "worker");
  EXPECT_THAT(run({"export", "tf_config", blueprint, "-gpus"}).out, HasSubstr("{\"cluster\":{\"worker\":[\"147.102.19.4:2223\""));
  EXPECT_EQ(run({"export", "slurm", blueprint}).code, run::exit_usage);
}

TEST_F(ClusterCommands, ExportLeavesNoFileOfAWorkerThatIsGone) {
  const std::filesystem::path out = folder / "out";
  const auto export_for = [&](const char* machines) { return run({"export", "tf_config", "-H", machines, "--out", out.string()}); };
  EXPECT_EQ(export_for("a,b,c,d").code, 0);
  // One that was changed since, and two that were never written by it.
  write_file_atomically(out / "worker-2.json", "{}");
  write_file_atomically(out / "worker-9.json", "{}");
  write_file_atomically(out / "worker-x.json", "{}");
  const Result fewer = export_for("a,b");
  EXPECT_EQ(fewer.code, 0) << fewer.err;
  EXPECT_FALSE(std::filesystem::exists(out / "worker-3.json"));
  for (const char* kept : {"worker-0.json", "worker-1.json", "worker-2.json", "worker-9.json", "worker-x.json"})
    EXPECT_TRUE(std::filesystem::exists(out / kept)) << kept;
  EXPECT_THAT(fewer.err,
              AllOf(HasSubstr("removed " + (out / "worker-3.json").string()), HasSubstr("warning: " + (out / "worker-2.json").string()),
                    HasSubstr("worker-9.json"), Not(HasSubstr("worker-x.json"))));
  EXPECT_EQ(export_for("a").code, 0);
  EXPECT_FALSE(std::filesystem::exists(out / "worker-1.json"));
}

TEST_F(ClusterCommands, ExportWritesABatchScript) {
  const std::string job = (folder / "job.toml").string();
  write_file_atomically(job, "[model]\nname = \"mlp_128\"\n[data]\nname = \"synthetic_digits\"\n");
  const Result result = run({"export", "sbatch", job, "--nodes", "3", "--time", "2-00", "--set", "train.epochs=3"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("#SBATCH --nodes=3\n"), HasSubstr("#SBATCH --time=2-00\n"), HasSubstr("\njob=" + job + "\n"),
                                HasSubstr("settings=(--set train.epochs=3)")));
  EXPECT_EQ(run({"export", "sbatch", job}).code, run::exit_usage) << "how many?";
  EXPECT_EQ(run({"export", "sbatch", job, "--nodes", "2", "--set", "train.epochz=3"}).code, run::exit_usage);
  EXPECT_EQ(run({"export", "sbatch", job, "--nodes", "2", "--time", "1 --wrap=id"}).code, run::exit_usage);
}

TEST_F(ClusterCommands, LaunchersThatCannotBeUsedHereSaySo) {
  for (const char* name : {"SLURM_JOB_ID", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) ::unsetenv(name);
  const auto train = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"train", "job.toml"});
    return run(more);
  };
  EXPECT_THAT(train({"--launcher", "slurm"}).err, HasSubstr("salloc"));
  EXPECT_EQ(train({"--launcher", "slurm"}).code, run::exit_preflight);
  EXPECT_THAT(train({"--launcher", "mpi"}).err, HasSubstr("mpirun -n"));
  EXPECT_THAT(train({"--launcher", "ssh"}).err, HasSubstr("--cluster"));
  EXPECT_THAT(train({"--launcher", "slrum"}).err, HasSubstr("slurm"));
  EXPECT_EQ(train({"--launcher", "local", "-H", "a,b"}).code, run::exit_usage);
  EXPECT_THAT(run({"list", "launchers"}).out,
              AllOf(HasSubstr("local"), HasSubstr("ssh"), HasSubstr("slurm"), HasSubstr("mpi"), HasSubstr("RANK")));
}

}  // namespace
}  // namespace trireme::cli
