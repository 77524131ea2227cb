// SPDX-License-Identifier: Apache-2.0
// A training on five hosts, from nothing to a model and back to nothing; and what goes wrong on the way.
#include <gmock/gmock.h>

#include <csignal>
#include <map>

#include "tests/cluster/training_process.h"
#include "tests/hosts/test_hosts.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kSamples = 2000;

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xffU);
  return bytes;
}

// Pictures with a bright stripe whose height shows the class.
void write_idx(const std::filesystem::path& folder) {
  std::string images = big_endian(0x803) + big_endian(kSamples) + big_endian(28) + big_endian(28);
  std::string labels = big_endian(0x801) + big_endian(kSamples);
  for (int i = 0; i < kSamples; ++i) {
    for (int pixel = 0; pixel < 28 * 28; ++pixel) images += static_cast<char>(pixel / 56 == i % 10 ? 255 : (i * 31 + pixel * 17) % 90);
    labels += static_cast<char>(i % 10);
  }
  write_file_atomically(folder / "images", images);
  write_file_atomically(folder / "labels", labels);
}

constexpr std::string_view kJob = R"(
[model]
name = "mlp_128"
[data]
reader = "idx"
train = ["images", "labels"]
test_split = 200
[train]
epochs = 3
batch_size = 100
[train.optimizer]
name = "adam"
)";

class TrainingOnHosts : public TrainingFolder {
 protected:
  TrainingOnHosts() {
    write_idx(data_);
    write_file_atomically(folder_ / "job.toml", kJob);
    for (const char* name : {"images", "labels"}) std::filesystem::create_symlink(data_ / name, folder_ / name);
  }
  ~TrainingOnHosts() override { std::filesystem::remove_all(data_); }
  std::vector<std::string> arguments(const std::filesystem::path& cluster, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{
        (folder_ / "job.toml").string(), "--runs", (folder_ / "runs").string(), "--cluster", cluster.string(), "--threads", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // Hosts have homes of their own, so what is in ours is only here; all else they share with this machine.
  std::filesystem::path data_ = std::filesystem::path(std::getenv("HOME")) / fmt::format(".trireme_test_{}", ::getpid());

  static void expect_nothing_left(const TestHosts& hosts) {
    for (std::size_t i = 0; i < hosts.size(); ++i)
      EXPECT_TRUE(wait_until([&] { return hosts.processes(i).empty(); }, seconds(10))) << testing::PrintToString(hosts.processes(i));
  }
  static bool says(const TrainingProcess& training, const std::string& words) {
    return wait_until([&] { return training.text().find(words) != std::string::npos; }, seconds(40));
  }
  // Addresses that something listens on, on the host, but for sshd's.
  static std::string listeners(const TestHosts& hosts, std::size_t host) { return hosts.run(host, {"ss", "-Hltn", "sport != 22"}).out; }
};

TEST_F(TrainingOnHosts, FiveFromNothingToAModel) {
  const TestHosts hosts(5);
  TrainingProcess training(arguments(hosts.cluster_file()));
  ASSERT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr("5 workers of 1 thread on 5 machines"), HasSubstr("h5: ships trireme"),
                                     HasSubstr("[4 h5] data:"), HasSubstr("trained 3 epochs"), HasSubstr("accuracy 100.00 %")));
  EXPECT_EQ(steps("runs"), 54);
  EXPECT_FALSE(final_model("runs").empty());
  expect_nothing_left(hosts);
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_THAT(listeners(hosts, i), IsEmpty());

  // The second time neither program nor data are carried, and the result has the same bits.
  const std::string first = final_model("runs");
  TrainingProcess again(arguments(hosts.cluster_file()));
  ASSERT_EQ(again.wait(), 0) << again.text();
  EXPECT_THAT(again.text(), AllOf(Not(HasSubstr("ships")), Not(HasSubstr("data:"))));
  EXPECT_TRUE(final_model("runs") == first);
}

// The kernel's counters of each host's link, beside what the ring must send: headers, heartbeats and reports are little.
TEST_F(TrainingOnHosts, EachMachineSeesTheBytesOfTheRing) {
  const TestHosts hosts(3);
  TrainingProcess training(arguments(hosts.cluster_file(), {"--set", "train.epochs=60", "--strategy", "allreduce,algorithm=ring"}));
  ASSERT_EQ(training.wait(), 0) << training.text();
  const double parameters = records("runs", "run").front().real("parameters");
  const double model = 2.0 * 2 / 3 * 4 * parameters * static_cast<double>(steps("runs"));
  std::map<std::string, double> sent, told;
  for (const auto& record : observe::read_journal(latest("runs") / "telemetry.jsonl")) {
    if (record.type == "machine") sent[record.text("host")] += record.real("network_out_bytes");
    if (record.type == "node" && record.find("bytes_sent") != nullptr) told[record.text("host")] += record.real("bytes_sent");
  }
  ASSERT_EQ(sent.size(), 3U);
  for (const auto& [host, bytes] : sent) {
    EXPECT_NEAR(told[host] / model, 1, 0.05) << host;
    EXPECT_NEAR(bytes / model, 1, 0.05) << host;
  }
}

TEST_F(TrainingOnHosts, AKilledNodeIsNamedAndStartedAgain) {
  const TestHosts hosts(3);
  TrainingProcess training(arguments(hosts.cluster_file(), {"--set", "train.epochs=100000"}));
  ASSERT_TRUE(wait_until([&] { return steps("runs") > 20; }, seconds(60))) << training.text();
  hosts.run(1, {"pkill", "-KILL", "-f", "trireme node"});
  EXPECT_TRUE(says(training, "generation 2: 2 nodes go on")) << training.text();
  EXPECT_TRUE(says(training, "generation 3: 3 nodes go on")) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr("trireme: rank 1 on h2 "), HasSubstr(" step ")));
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  expect_nothing_left(hosts);
}

TEST_F(TrainingOnHosts, AMachineThatIsAddedToTheFileJoins) {
  const TestHosts hosts(3);
  const std::string all = read_file(hosts.cluster_file());
  write_file_atomically(folder_ / "lab.toml", all.substr(0, all.rfind("[[machines]]")));
  TrainingProcess training(arguments(folder_ / "lab.toml", {"--set", "train.epochs=100000"}));
  ASSERT_TRUE(wait_until([&] { return steps("runs") > 20; }, seconds(60))) << training.text();
  EXPECT_THAT(training.text(), HasSubstr("2 workers"));
  write_file_atomically(folder_ / "lab.toml", all);
  EXPECT_TRUE(says(training, "generation 2: 3 nodes go on")) << training.text();
  EXPECT_THAT(training.text(), HasSubstr("h3 is new: node 2 is started there"));
  training.signal(SIGTERM);
  EXPECT_EQ(training.wait(), 143) << training.text();
  expect_nothing_left(hosts);
}

TEST_F(TrainingOnHosts, NothingIsLeftWhenTheLauncherIsKilledIfSoWanted) {
  const TestHosts hosts(2);
  TrainingProcess training(arguments(hosts.cluster_file(), {"--keep-nodes", "0", "--set", "train.epochs=100000"}));
  ASSERT_TRUE(wait_until([&] { return steps("runs") > 20; }, seconds(60))) << training.text();
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_FALSE(hosts.processes(i).empty());
  training.signal(SIGKILL);
  EXPECT_EQ(training.wait(), -SIGKILL);
  expect_nothing_left(hosts);
}

TEST_F(TrainingOnHosts, AnotherCoordinatorTakesOverWithTheNodesThatAreStillThere) {
  const TestHosts hosts(2);
  {
    TrainingProcess training(arguments(hosts.cluster_file(), {"--set", "train.epochs=100000"}));
    ASSERT_TRUE(wait_until([&] { return steps("runs") > 20; }, seconds(60))) << training.text();
    training.signal(SIGKILL);
    EXPECT_EQ(training.wait(), -SIGKILL);
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_FALSE(hosts.processes(i).empty()) << "it waits";
  TrainingProcess next({"--resume", latest("runs").string()});
  EXPECT_TRUE(says(next, "generation 2: 2 nodes go on")) << next.text();
  next.signal(SIGTERM);
  EXPECT_EQ(next.wait(), 143) << next.text();
  expect_nothing_left(hosts);
}

TEST_F(TrainingOnHosts, AnUnreachableHostIsReportedBeforeAnythingStarts) {
  const TestHosts hosts(2);
  const std::string text = read_file(hosts.cluster_file()) + "\n[[machines]]\nname = \"h9\"\naddress = \"" + hosts.free_address() + "\"\n";
  write_file_atomically(folder_ / "lab.toml", text);
  TrainingProcess training(arguments(folder_ / "lab.toml"));
  EXPECT_EQ(training.wait(), 3) << training.text();
  EXPECT_THAT(training.text(), HasSubstr("h9"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));
  expect_nothing_left(hosts);
}

TEST_F(TrainingOnHosts, AChangedHostKeyIsRefused) {
  TestHosts hosts(2);
  hosts.change_host_key(1);
  TrainingProcess training(arguments(hosts.cluster_file(), {"--accept-new-hosts"}));
  EXPECT_EQ(training.wait(), 3) << training.text();
  EXPECT_THAT(training.text(), AllOf(HasSubstr("h2"), HasSubstr("host key")));
  expect_nothing_left(hosts);
}

TEST_F(TrainingOnHosts, LoginNoiseIsOnlyAWarning) {
  const TestHosts hosts(2);
  write_file_atomically(hosts.home(0) / ".bashrc", "echo Welcome to the lab; echo noise >&2\n");
  write_file_atomically(hosts.home(0) / ".profile", "echo Welcome to the lab\n");
  TrainingProcess training(arguments(hosts.cluster_file()));
  EXPECT_EQ(training.wait(), 0) << training.text();
  EXPECT_THAT(training.text(), HasSubstr("trained 3 epochs"));
  expect_nothing_left(hosts);
}

}  // namespace
}  // namespace trireme::tests
