// SPDX-License-Identifier: Apache-2.0
// Keys of a job are nowhere but in the memory of its processes: not in command lines, environments, logs, runs or caches.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/cluster/secret_search.h"
#include "tests/cluster/small_job.h"
#include "tests/cluster/training_process.h"
#include "trireme/base/digest.h"
#include "trireme/base/hexadecimal.h"
#include "trireme/base/json.h"
#include "trireme/web/page.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

class Secrets : public TrainingFolder {
 protected:
  Secrets() { write_job(small_job({.epochs = 1000})); }
  bool is_under_way() const { return comes_to("runs", 20); }
  std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all{(folder_ / "job.toml").string(), "--runs", (folder_ / "runs").string(), "--threads", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(Secrets, TheSearchFindsWhatIsThere) {
  Search search({"a certain mark"});
  write_file_atomically(folder_ / "log", "there is a certain mark in it");
  Process process({.argv = {"sleep", "30"}, .on_exit = {}});
  search.look_at_files(folder_);
  EXPECT_THAT(search.found(), testing::ElementsAre((folder_ / "log").string()));
  Search in_processes({"/proc", std::string("sleep\0"
                                            "30",
                                            8)});
  ASSERT_TRUE(wait_until(
      [&] {
        in_processes.look_at_processes();
        return in_processes.found().contains(fmt::format("cmdline of {}", process.pid()));
      },
      seconds(5)));
  process.signal(SIGKILL);
}

// While it runs, the job's secret is in one file that only its owner can read, for a coordinator that takes over; at its end it is gone.
TEST_F(Secrets, OfALaunchOnThisMachineAreNowhereElse) {
  TrainingProcess training(arguments({"-n", "2"}));
  ASSERT_TRUE(is_under_way()) << training.text();
  const fs::path file = latest("runs") / "coordinator.json";
  ASSERT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const std::string secret = from_hex(parse_json(read_file(file)).at("secret"));
  ASSERT_GE(secret.size(), 16U);
  std::vector<std::string> marks = kMarks;
  const std::string key = hmac_sha256(secret, "collectives");
  marks.insert(marks.end(), {secret, to_hex(secret), key, to_hex(key)});
  Search search(marks);
  search.look_at_processes();
  training.signal(SIGINT);
  EXPECT_EQ(training.wait(), 130) << training.text();
  search.look_at("what it printed", training.text());
  search.look_at_files(folder_);
  EXPECT_THAT(search.found(), IsEmpty());
  EXPECT_GT(search.looked_at(), 10);
}

// With a secret that the test knows, so that every form of it can be looked for.
TEST_F(Secrets, OfALaunchByTheEnvironmentAreNowhereButInTheFile) {
  const std::string secret = "a canary that only this test knows, 44 bytes";
  fs::create_directories(folder_ / "secret");
  write_file_atomically(folder_ / "secret/file", secret);
  const std::string port = std::to_string(20000 + ::getpid() % 10000);
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  ::setenv("MASTER_PORT", port.c_str(), 1);
  ::setenv("WORLD_SIZE", "2", 1);
  std::vector<std::unique_ptr<TrainingProcess>> ranks;
  for (const char* rank : {"0", "1"}) {
    ::setenv("RANK", rank, 1);
    ranks.push_back(std::make_unique<TrainingProcess>(arguments({"--secret-file", (folder_ / "secret/file").string()})));
  }
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}) ::unsetenv(name);
  ASSERT_TRUE(is_under_way()) << ranks[0]->text();
  std::vector<std::string> marks = kMarks;
  const std::string key = hmac_sha256(secret, "collectives");
  marks.insert(marks.end(), {secret, to_hex(secret), key, to_hex(key)});
  Search search(marks);
  search.look_at_processes();
  ranks[0]->signal(SIGINT);
  for (const auto& rank : ranks) {
    rank->wait();
    search.look_at("what it printed", rank->text());
  }
  search.look_at_files(folder_ / "runs");
  search.look_at_files(folder_ / "cache");
  EXPECT_THAT(search.found(), IsEmpty());
}

// The printed address has it; a file has it only where a port was asked for, which programs are to read.
TEST_F(Secrets, TheDashboardsTokenIsInNoFileUnlessAPortWasAskedFor) {
  for (const bool asks_for_port : {false, true}) {
    const std::string runs = asks_for_port ? "asked" : "runs";
    const std::vector<std::string> flags = asks_for_port
                                               ? std::vector<std::string>{"--dashboard-port", std::to_string(20000 + ::getpid() % 10000)}
                                               : std::vector<std::string>{"--dashboard"};
    if (!asks_for_port && !web::page_absence().empty()) GTEST_SKIP() << "--dashboard is refused, this build has no page";
    TrainingProcess training = begin(runs, flags);
    ASSERT_TRUE(comes_to(runs, 20)) << training.text();
    const std::string text = training.text();
    const auto at = text.find("?token=");
    ASSERT_NE(at, std::string::npos) << text;
    Search search({text.substr(at + 7, 32)});
    search.look_at_processes();
    search.look_at_files(folder_);
    const fs::path file = fs::canonical(latest(runs)) / "dashboard.token";
    if (asks_for_port) {
      EXPECT_THAT(search.found(), testing::ElementsAre(file.string()));
      EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    } else {
      EXPECT_THAT(search.found(), IsEmpty());
    }
    training.signal(SIGINT);
    EXPECT_EQ(training.wait(), 130) << training.text();
    EXPECT_FALSE(fs::exists(file));
  }
}

TEST_F(Secrets, ProcessesLeaveNoCoreAndRunsAreTheirOwnersOnly) {
  TrainingProcess training(arguments({"-n", "2"}));
  ASSERT_TRUE(is_under_way()) << training.text();
  std::vector<pid_t> all = training.children();
  all.push_back(training.pid());
  ASSERT_EQ(all.size(), 3U);
  for (const pid_t process : all) {
    std::string limits = read_file(fmt::format("/proc/{}/limits", process));
    std::erase(limits, ' ');
    EXPECT_THAT(limits, HasSubstr("Maxcorefilesize00bytes"));
  }
  const fs::perms others = fs::perms::group_all | fs::perms::others_all;
  EXPECT_EQ(fs::status(latest("runs") / ".").permissions() & others, fs::perms::none);
  training.signal(SIGINT);
  EXPECT_EQ(training.wait(), 130);
}

}  // namespace
}  // namespace trireme::tests
