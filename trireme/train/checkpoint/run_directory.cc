// SPDX-License-Identifier: Apache-2.0
// Making, finding and locking the directory of a run.
#include "trireme/train/checkpoint/run_directory.h"

#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/files.h"

namespace trireme::train {
namespace {

constexpr int kMaxOfOneSecond = 10000;
constexpr std::uintmax_t kMaxLockFile = 4096;

std::string dated_name(std::string_view job_stem, std::chrono::system_clock::time_point now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(now));
  return fmt::format("{}-{:%Y%m%d-%H%M%S}", job_stem, fmt::gmtime(seconds));
}

// mkdir and not a look first: of two trainings that start in the same second each gets its own.
std::filesystem::path make_unique(const std::filesystem::path& base, const std::string& name) {
  for (int number = 1; number < kMaxOfOneSecond; ++number) {
    auto path = base / (number == 1 ? name : fmt::format("{}-{}", name, number));
    if (::mkdir(path.c_str(), 0700) == 0) return path;  // a model reveals the data it has seen
    if (errno != EEXIST) throw_system_error(errno, fmt::format("make the directory {}", path.string()));
  }
  throw Error{resource_exhausted, "{} has {} runs called {}", base.string(), kMaxOfOneSecond, name};
}

std::string holder(const std::filesystem::path& lock_file) {
  const std::string content = read_file(lock_file, kMaxLockFile);
  pid_t process = 0;
  const auto [end, fault] = std::from_chars(content.data(), content.data() + content.size(), process);
  return fault == std::errc{} ? fmt::format("process {}", process) : "another process";
}

}  // namespace

RunDirectory::RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}

RunDirectory RunDirectory::create(const std::filesystem::path& base, std::string_view job_stem, std::chrono::system_clock::time_point now) {
  ensure(!job_stem.empty() && job_stem.find('/') == std::string_view::npos, "the stem of a job's file names its runs");
  make_directories(base);
  RunDirectory run(make_unique(base, dated_name(job_stem, now)));
  link_latest(run.path());
  sync_directory(base);
  return run;
}

RunDirectory RunDirectory::open(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) throw Error{not_found, "there is no run {}: {}", path.string(), error.message()};
  if (!std::filesystem::is_directory(real, error)) throw Error{not_found, "{} is no run: it is no directory", path.string()};
  RunDirectory run(real);
  if (!std::filesystem::exists(run.config(), error))
    throw Error{not_found, "{} is no run: it has no {}", path.string(), run.config().filename().string()};
  return run;
}

// A link can't be overwritten; a new one is renamed over it.
void RunDirectory::link_latest(const std::filesystem::path& run) {
  const std::filesystem::path link = run.parent_path() / "latest";
  const std::filesystem::path temporary = run.parent_path() / fmt::format(".latest-{}", run.filename().string());
  ::unlink(temporary.c_str());
  if (::symlink(run.filename().c_str(), temporary.c_str()) != 0)
    throw_system_error(errno, fmt::format("link {} to {}", link.string(), run.string()));
  if (std::rename(temporary.c_str(), link.c_str()) == 0) return;
  const int reason = errno;
  ::unlink(temporary.c_str());
  throw_system_error(reason, fmt::format("link {} to {}", link.string(), run.string()));
}

// Under another name first: what is left if this is interrupted is no run, and a hidden folder. The lock is held to the end.
void RunDirectory::remove(const std::filesystem::path& run) {
  RunDirectory directory(run);
  directory.lock();
  const std::filesystem::path link = run.parent_path() / "latest";
  const std::filesystem::path doomed = run.parent_path() / fmt::format(".deleted-{}", run.filename().string());
  std::error_code error;
  const bool is_latest = std::filesystem::is_symlink(link, error) && std::filesystem::equivalent(link, run, error);
  if (std::rename(run.c_str(), doomed.c_str()) != 0) throw_system_error(errno, fmt::format("delete {}", run.string()));
  if (is_latest) std::filesystem::remove(link, error);
  std::filesystem::remove_all(doomed, error);
  if (error) throw_system_error(error.value(), fmt::format("delete all of {}; the rest is in {}", run.string(), doomed.string()));
}

void RunDirectory::lock() {
  ensure(!lock_.is_held(), "a run is locked once");
  FileLock lock(lock_file());
  if (!lock.try_lock())
    throw Error{failed_precondition, "{} is being trained by {}; wait for it, or stop it first", path_.string(), holder(lock_file())};
  lock.write(fmt::format("{}\n", ::getpid()));
  lock_ = std::move(lock);
}

}  // namespace trireme::train
