// SPDX-License-Identifier: Apache-2.0
// A real Slurm for tests: namespaces as machines, its configuration, munge and the daemons.
#include "tests/slurm/test_slurm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;

constexpr const char* kHost = "slurm-test";

void require(bool done, std::string_view what) {
  if (!done)
    throw Error{failed_precondition, "{}: {}; the tests with Slurm need root (leave them out with ctest -LE slurm)", what,
                ::strerror(errno)};
}

// Only loopback, and a host name that leads there.
void enter_namespaces(const std::filesystem::path& folder) {
  require(::unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS) == 0, "making namespaces");
  require(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "making mounts private");
  require(::sethostname(kHost, std::char_traits<char>::length(kHost)) == 0, "setting the host name");
  write_file_atomically(folder / "hosts", fmt::format("127.0.0.1 localhost {}\n", kHost));
  require(::mount((folder / "hosts").c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0, "mounting /etc/hosts");
  // Slurm resolves no name, not even a number, where loopback is all there is.
  for (const char* words :
       {"link set lo up", "link add lan type veth peer name nowhere", "addr add 10.217.0.1/24 dev lan", "link set lan up"}) {
    std::istringstream arguments(words);
    std::vector<std::string> command{"ip"};
    for (std::string word; arguments >> word;) command.push_back(word);
    const auto output = run_process(command, seconds(10));
    require(output.status && output.status->is_success(), fmt::format("ip {}", words));
  }
}

void write_key(const std::filesystem::path& path) {
  write_file_atomically(path, random_bytes(1024));
  ::chmod(path.c_str(), 0400);
}

std::string node_lines(int machines) {
  std::string lines;
  for (int i = 1; i <= machines; ++i)
    lines += fmt::format("NodeName=n{0} NodeHostname={1} NodeAddr=127.0.0.1 Port={2} CPUs=2 State=UNKNOWN\n", i, kHost, 6820 + i);
  return lines;
}

// cred_expire: a requeued job must wait for so long. KillWait: between SIGTERM and SIGKILL.
constexpr std::string_view kConfiguration = R"(ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
JobRequeue=1
KillWait=10
MinJobAge=600
SlurmdTimeout=10
ReturnToService=2
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
{nodes}PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
)";

}  // namespace

TestSlurm::TestSlurm(std::filesystem::path folder, TestSlurmOptions options) : folder_(std::move(folder)), options_(std::move(options)) {
  // munged insists on folders that no other user could have prepared.
  std::filesystem::create_directories(folder_ / "state");
  ::chmod(folder_.c_str(), 0755);
  enter_namespaces(folder_);
  write_configuration();
  ::setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
  const auto in_folder = [this](const char* flag, const char* name) { return fmt::format("{}={}", flag, (folder_ / name).string()); };
  start("munged", {"munged", "--foreground", "--force", in_folder("--key-file", "munge.key"), in_folder("--socket", "munge.socket"),
                   in_folder("--pid-file", "munged.pid"), in_folder("--log-file", "munged.out"), in_folder("--seed-file", "munged.seed")});
  for (int i = 0; i < 500 && !std::filesystem::exists(folder_ / "munge.socket"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  start("slurmctld", {"slurmctld", "-D"});
  for (int i = 1; i <= options_.machines; ++i) {
    std::vector<std::string> command{"slurmd", "-D", "-N", fmt::format("n{}", i)};
    if (i == options_.machines && !options_.hidden_folder.empty())
      command.insert(command.begin(),
                     {"unshare", "--mount", "sh", "-c", "mount -t tmpfs none \"$0\" && exec \"$@\"", options_.hidden_folder.string()});
    start(fmt::format("n{}", i), std::move(command));
  }
  await_idle();
}

TestSlurm::~TestSlurm() {
  const auto run = [](const std::vector<std::string>& command) { return run_process(command, seconds(20)); };
  run({"scancel", "--full", "--signal=KILL", "--user=root"});
  run({"scancel", "--user=root"});
  for (int i = 0; i < 300 && !run({"squeue", "--noheader"}).out.empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (auto& [name, daemon] : daemons_)
    if (name != "munged") daemon->terminate(seconds(5));
}

void TestSlurm::write_configuration() const {
  write_key(folder_ / "munge.key");
  write_file_atomically(folder_ / "slurm.conf",
                        fmt::format(fmt::runtime(kConfiguration), fmt::arg("host", kHost), fmt::arg("folder", folder_.string()),
                                    fmt::arg("nodes", node_lines(options_.machines))));
}

void TestSlurm::start(const std::string& name, std::vector<std::string> command) {
  const auto file = std::make_shared<std::ofstream>(folder_ / (name + ".log"));
  daemons_[name] = std::make_unique<Process>(ProcessOptions{
      .argv = std::move(command), .on_line = [file](Stream, std::string_view line) { *file << line << std::endl; }, .on_exit = {}});
}

std::string TestSlurm::log(const std::string& name) const { return read_file(folder_ / (name + ".log")); }

void TestSlurm::await_idle() const {
  std::string seen;
  for (int i = 0; i < 300; ++i) {
    seen = run_process({"sinfo", "--noheader", "--Node", "--format=%T"}, seconds(20)).out;
    std::istringstream lines(seen);
    int idle = 0;
    for (std::string line; std::getline(lines, line);) idle += line == "idle" ? 1 : 0;
    if (idle == options_.machines) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  throw Error{unavailable,  "the test's Slurm did not come up: {}\nslurmctld:\n{}\nn1:\n{}\nmunged:\n{}", seen, log("slurmctld"), log("n1"),
              log("munged")};
}

// Not static: there is a controller to ask only while this object lives.
// NOLINTNEXTLINE(readability-convert-member-functions-to-static)
std::string TestSlurm::ask(const std::vector<std::string>& command) const {
  const auto output = run_process(command, seconds(30));
  if (!output.status || !output.status->is_success()) throw Error{unavailable, "{}: {}{}", command.front(), output.out, output.err};
  return output.out;
}

std::string TestSlurm::submit(const std::filesystem::path& script, const std::filesystem::path& folder,
                              const std::vector<std::string>& more) const {
  std::vector<std::string> command{"sbatch", "--parsable", fmt::format("--chdir={}", folder.string())};
  command.insert(command.end(), more.begin(), more.end());
  command.push_back(script.string());
  std::string id = ask(command);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::map<std::string, std::string> TestSlurm::job(const std::string& id) const {
  std::map<std::string, std::string> fields;
  std::istringstream words(ask({"scontrol", "--oneliner", "show", "job", id}));
  for (std::string word; words >> word;)
    if (const std::size_t mark = word.find('='); mark != std::string::npos) fields.emplace(word.substr(0, mark), word.substr(mark + 1));
  return fields;
}

bool TestSlurm::wait_for_job(const std::string& id, const std::function<bool(const std::map<std::string, std::string>&)>& condition,
                             seconds timeout) const {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!condition(job(id))) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return true;
}

bool TestSlurm::wait_for_end(const std::string& id, seconds timeout) const {
  static const std::set<std::string> kOver{"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"};
  return wait_for_job(
      id, [](const auto& fields) { return kOver.contains(fields.at("JobState")); }, timeout);
}

void TestSlurm::kill_daemon(int machine) { daemons_.at(fmt::format("n{}", machine + 1))->signal(SIGKILL); }

}  // namespace trireme::tests
