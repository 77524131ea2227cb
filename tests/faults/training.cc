// SPDX-License-Identifier: Apache-2.0
// Starts `trireme train`, finds its processes, and reads what it leaves.
#include "tests/faults/training.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Words = std::vector<std::string>;

constexpr auto kJournalLook = milliseconds(100);  // reading all journals takes some milliseconds
constexpr auto kMemoryLook = milliseconds(500);
constexpr auto kCleanWithin = seconds(10);

Words command(const TrainingSetup& setup, const Training::Places& places) {
  Words words = setup.wrapper;
  words.emplace_back("env");
  for (const auto& [name, value] : setup.environment) words.push_back(fmt::format("{}={}", name, value));
  if (!setup.failpoints.empty()) words.push_back(fmt::format("TRIREME_FAILPOINTS=once={} {}", places.marks.string(), setup.failpoints));
  words.insert(words.end(), {TRIREME_BINARY, "train"});
  if (setup.resume.empty())
    words.insert(words.end(), {places.job.string(), "--runs", places.runs.string()});
  else
    words.insert(words.end(), {"--resume", setup.resume.string()});
  words.insert(words.end(), {"--events", places.events.string(), "--threads", "1"});
  for (const std::string& setting : setup.settings) words.insert(words.end(), {"--set", setting});
  if (setup.on_hosts)
    words.insert(words.end(), {"--cluster", places.hosts->cluster_file().string(), "--ssh-arg=-F", "--ssh-arg",
                               (places.hosts->folder() / "ssh_config").string()});
  words.insert(words.end(), {"-n", std::to_string(setup.nodes)});
  words.insert(words.end(), setup.flags.begin(), setup.flags.end());
  return words;
}

// A number of /proc/PID/status, in bytes if it has a unit; 0 if it isn't there.
std::int64_t status_number(const std::string& status, std::string_view name) {
  const std::size_t at = status.find(name);
  return at == std::string::npos ? 0 : std::stoll(status.substr(at + name.size())) * 1024;
}

PeakMemory memory_of(pid_t pid, bool is_node) {
  try {
    const std::string status = read_file(fmt::format("/proc/{}/status", pid));
    return {.bytes = status_number(status, "VmHWM:"),
            .whose = fmt::format("{} {}: {} MB of its own and {} MB of files now", is_node ? "node" : "launcher", pid,
                                 status_number(status, "RssAnon:") >> 20, status_number(status, "RssFile:") >> 20)};
  } catch (const Error&) {
    return {};  // it is gone
  }
}

// It runs, or is stopped; a zombie has ended.
bool is_trireme(pid_t pid) {
  try {
    const std::string stat = read_file(fmt::format("/proc/{}/stat", pid));
    return stat.find("(trireme)") != std::string::npos && stat.find(") Z") == std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

bool await(const std::function<bool()>& condition, milliseconds timeout, milliseconds look) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(look);
  }
  return true;
}

Training::Training(TrainingSetup setup, Places places) : setup_(std::move(setup)), places_(std::move(places)) {
  for (const fs::path& folder : {places_.runs, places_.events, places_.marks}) make_directories(folder);
  const fs::path log = places_.log;
  process_ = std::make_unique<Process>(
      ProcessOptions{.argv = command(setup_, places_),
                     .on_line =
                         [this, log](Stream, std::string_view line) {
                           const std::lock_guard lock(mutex_);
                           text_ += fmt::format("{}\n", line);
                           OutputFile(log, OutputFile::Mode::append).write(fmt::format("{:.3f} {}\n", wall_time(), line));
                         },
                     .on_exit = {}});
  watcher_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      watch_memory();
      std::this_thread::sleep_for(kMemoryLook);
    }
  });
}

Training::~Training() = default;

std::string Training::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

std::optional<pid_t> Training::node(int number) const {
  if (setup_.on_hosts) {
    const std::vector<pid_t> found = places_.hosts->pids(static_cast<std::size_t>(number), "trireme");
    return found.empty() ? std::nullopt : std::optional(found.front());
  }
  const std::string prefix = fmt::format("node-{}-", number);
  std::optional<pid_t> newest;
  for (const auto& entry : fs::directory_iterator(places_.events)) {
    const std::string name = entry.path().stem();
    if (!name.starts_with(prefix)) continue;
    const pid_t pid = std::stoi(name.substr(prefix.size()));
    if (is_trireme(pid)) newest = pid;
  }
  return newest;
}

std::vector<pid_t> Training::all_nodes() const {
  std::vector<pid_t> found;
  const int most = setup_.on_hosts ? static_cast<int>(places_.hosts->size()) : setup_.nodes;
  for (int number = 0; number < most; ++number)
    if (const auto pid = node(number)) found.push_back(*pid);
  return found;
}

double Training::signal_node(int number, int signal) const {
  const auto pid = node(number);
  if (!pid) throw Error{not_found, "node {} does not run, so it can't be sent signal {}", number, signal};
  const double time = wall_time();
  ::kill(*pid, signal);
  return time;
}

bool Training::reaches_step(std::int64_t step, seconds timeout) const {
  return await([&] { return standing().step >= step || !is_running(); }, timeout, kJournalLook) && standing().step >= step;
}

bool Training::passes_generation(std::int64_t generation, seconds timeout) const {
  const auto has_stepped = [&] { return recovery(history(), 0, generation).recovered.has_value(); };
  return await([&] { return has_stepped() || !is_running(); }, timeout, kJournalLook) && has_stepped();
}

std::optional<double> Training::obeyed(int order, seconds timeout) const {
  const fs::path mark = places_.marks / std::to_string(order);
  if (!await([&] { return fs::exists(mark); }, timeout)) return std::nullopt;
  struct stat status {};
  if (::stat(mark.c_str(), &status) != 0) return std::nullopt;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

std::optional<int> Training::wait(seconds timeout) {
  const auto status = process_->wait_for(timeout);
  if (!status) return std::nullopt;
  return status->signal != 0 ? -status->signal : status->code;
}

fs::path Training::run() const { return setup_.resume.empty() ? fs::canonical(places_.runs / "latest") : fs::canonical(setup_.resume); }

std::string Training::model() const {
  fs::path newest;
  for (const auto& entry : fs::directory_iterator(run() / "checkpoints"))
    if (entry.path().filename().string().starts_with("step-")) newest = std::max(newest, entry.path());
  std::string bytes = read_file(newest / "model.safetensors") + read_file(newest / "optimizer.safetensors");
  if (fs::exists(newest / "best.safetensors")) bytes += read_file(newest / "best.safetensors");  // none before the first epoch's end
  return bytes;
}

double Training::accuracy() const {
  double accuracy = std::nan("");
  for (const observe::Record& record : observe::read_journal(run() / "journal.jsonl"))
    if (record.type == "test") accuracy = 100 * record.real("accuracy");
  return accuracy;
}

PeakMemory Training::peak_memory() const {
  const std::lock_guard lock(mutex_);
  return peak_memory_;
}

void Training::watch_memory() {
  std::vector<PeakMemory> peaks = {memory_of(process_->pid(), false)};
  for (const pid_t pid : all_nodes()) peaks.push_back(memory_of(pid, true));
  const std::lock_guard lock(mutex_);
  for (PeakMemory& peak : peaks)
    if (peak.bytes > peak_memory_.bytes) peak_memory_ = std::move(peak);
}

std::vector<std::string> Training::left_behind() const {
  std::vector<std::string> left;
  if (!await([&] { return all_nodes().empty(); }, kCleanWithin)) {
    for (const pid_t pid : all_nodes()) left.push_back(fmt::format("process {} of a node still runs", pid));
  }
  for (std::size_t i = 0; setup_.on_hosts && i < places_.hosts->size(); ++i) {
    for (const std::string& line : places_.hosts->processes(i)) left.push_back(fmt::format("process on h{}: {}", i + 1, line));
    const std::string listeners = places_.hosts->run(i, {"ss", "-Hltn", "sport != 22"}).out;
    if (!listeners.empty()) left.push_back(fmt::format("listeners on h{}: {}", i + 1, listeners));
  }
  std::error_code none;
  for (fs::recursive_directory_iterator entry(places_.runs, none), end; !none && entry != end; entry.increment(none))
    if (entry->path().filename().string().find(".tmp") != std::string::npos)
      left.push_back(fmt::format("temporary file {}", entry->path().string()));
  return left;
}

}  // namespace trireme::tests
