// SPDX-License-Identifier: Apache-2.0
// Look at the machine, ship what is missing, look again: until the program runs there or a reason is found.
#include "trireme/cluster/launch/shipping.h"

#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/table.h"
#include "trireme/cluster/launch/remote_script.h"
#include "trireme/cluster/launch/shared_libraries.h"
#include "trireme/cluster/launch/ssh.h"

namespace trireme::cluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

// What is the same for all machines.
struct Cargo {
  fs::path binary;
  std::string hash;
  std::string system;  // "Linux x86_64"
  std::map<std::string, fs::path> libraries;
};

struct RemoteFile {
  fs::path path;     // here
  std::string name;  // there, in the binary's folder
};

// What a look at the machine finds.
struct Look {
  std::string system;
  std::string fault;
  std::int64_t clock = 0;  // seconds since 1970, as that machine has it
  std::string hash;
  bool has_libraries = false;
  LoaderReport loader;
  bool runs = false;
  int code = 0;          // of the failed try to run it
  std::string messages;  // of the same
};

std::string this_system() {
  utsname names{};
  ::uname(&names);
  return fmt::format("{} {}", names.sysname, names.machine);
}

// Runs the program only if its hash is right. LD_TRACE_LOADED_OBJECTS makes the loader list the libraries, as ldd does.
std::string look_script(const std::string& hash) {
  return fmt::format(
      "D=\"{}\"; B=\"$D/trireme\"; echo \"clock $(date +%s)\"; echo \"system $(uname -s) $(uname -m)\"; "
      "command -v sha256sum >/dev/null || {{ echo \"fault the program sha256sum is missing there\"; exit 0; }}; "
      "E=$(mkdir -p \"$D\" 2>&1 && touch \"$D\" 2>&1) || {{ echo \"fault $E\"; exit 0; }}; "
      "[ -f \"$B\" ] || exit 0; S=$(sha256sum < \"$B\" | cut -c1-64); echo \"hash $S\"; [ \"$S\" = {} ] || exit 0; "
      "if [ -d \"$D/lib\" ]; then echo libraries; export LD_LIBRARY_PATH=\"$D/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"; fi; "
      "LD_TRACE_LOADED_OBJECTS=1 LD_WARN=yes \"$B\" 2>&1 | sed \"s/^/loader /\"; "
      "V=$(\"$B\" --version 2>&1) && echo \"runs\" $V || echo \"fails $?\" $V",
      remote_folder(hash), hash);
}

Look read_look(const std::vector<std::string>& lines) {
  Look look;
  std::vector<std::string> loader_lines;
  for (const std::string& line : lines) {
    const std::size_t space = line.find(' ');
    const std::string_view key = std::string_view(line).substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "system") look.system = value;
    if (key == "fault") look.fault = value;
    if (key == "clock") look.clock = std::atoll(value.c_str());
    if (key == "hash") look.hash = value;
    if (key == "libraries") look.has_libraries = true;
    if (key == "loader") loader_lines.push_back(value);
    if (key == "runs") look.runs = true;
    if (key == "fails") {
      look.code = std::atoi(value.c_str());
      look.messages = value.substr(std::min(value.find(' '), value.size()));
    }
  }
  look.loader = read_loader_lines(loader_lines);
  return look;
}

// The files arrive one after the other through standard input. Nothing gets its real name before all of them are right.
std::string ship_script(const std::string& hash, const std::vector<RemoteFile>& files) {
  std::string script = fmt::format(
      "D=\"{}\"; T=\"$D/.part-{}\"; clean() {{ rm -rf \"$T\"; }}; trap clean EXIT; trap \"exit 1\" HUP INT TERM PIPE; "
      "mkdir -p \"$T/lib\" || exit 1; ",
      remote_folder(hash), random_mark());
  for (const RemoteFile& file : files) {
    const std::string digest = digest_of_file(Digest::Kind::sha256, file.path);
    script += fmt::format(
        "head -c {} > \"$T/{}\" || exit 1; "
        "[ \"$(sha256sum < \"$T/{}\" | cut -c1-64)\" = {} ] || {{ echo \"broken {}\"; exit 1; }}; chmod 755 \"$T/{}\"; ",
        fs::file_size(file.path), file.name, file.name, digest, file.name, file.name);
  }
  for (const RemoteFile& file : files) {
    if (file.name.starts_with("lib/")) script += "mkdir -p \"$D/lib\"; ";
    script += fmt::format("mv -f \"$T/{}\" \"$D/{}\" || exit 1; ", file.name, file.name);
  }
  // What a power cut left, and versions that were not used for a month, are taken away; never this one, whatever the clock says.
  return script + fmt::format(
                      "find \"$D\" -maxdepth 1 -name \".part-*\" -mmin +60 -exec rm -rf {{}} +; "
                      "find \"$D/..\" -mindepth 1 -maxdepth 1 -type d -not -name {} -mtime +30 -exec rm -rf {{}} +",
                      hash);
}

// Several files as one, for ssh's standard input.
class Parcel {
 public:
  explicit Parcel(const std::vector<RemoteFile>& files) {
    if (files.size() == 1) {
      path_ = files.front().path;
      return;
    }
    path_ = fs::temp_directory_path() / fmt::format("trireme-parcel-{}-{}", ::getpid(), random_mark());
    is_temporary_ = true;
    OutputFile out(path_, OutputFile::Mode::create);
    for (const RemoteFile& file : files) out.write(read_file(file.path));
  }
  ~Parcel() {
    std::error_code ignored;
    if (is_temporary_) fs::remove(path_, ignored);
  }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool is_temporary_ = false;
};

// The work for one machine.
class Shipment {
 public:
  Shipment(const Machine& machine, const LaunchOptions& options, const Cargo& cargo, const OnShippingEvent& on_event)
      : machine_(machine), options_(options), cargo_(cargo), on_event_(on_event) {
    report_.machine = machine.name;
  }

  ShippingReport run() {
    const auto start = std::chrono::steady_clock::now();
    try {
      make_ready();
    } catch (const Error& error) {  // one of several machines: all reports are made, then require_ready() throws
      report_.error = error.what();
    }
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  // A shipped library may need others, so there can be a few rounds.
  void make_ready() {
    constexpr int kRounds = 10;
    for (int round = 0; round < kRounds; ++round) {
      const Look look = look_at_machine();
      check(look);
      report_.has_shipped_libraries = look.has_libraries;
      if (look.hash == cargo_.hash && look.runs && look.loader.missing.empty()) return;
      ship(look.hash == cargo_.hash ? missing_libraries(look) : std::vector<RemoteFile>{{cargo_.binary, "trireme"}});
    }
    throw Error{failed_precondition, "{}: libraries are still missing there after {} rounds of shipping", machine_.name, kRounds};
  }

  Look look_at_machine() {
    constexpr auto kLimit = seconds(60);
    RemoteOutput output = run_remotely(machine_, options_, {.script = look_script(cargo_.hash), .limit = kLimit, .input_file = {}});
    if (!output.noise.empty() && report_.warnings.empty())
      report_.warnings.push_back(
          fmt::format("{}: its login prints \"{}\"; that is passed over, but start-up files should be quiet in logins without a terminal",
                      machine_.name, output.noise.substr(0, std::min<std::size_t>(output.noise.find('\n'), 80))));
    return read_look(output.lines);
  }

  void check(const Look& look) const {
    if (look.system != cargo_.system)
      throw Error{failed_precondition, "{}: it is {}, but this program is made for {}; build Trireme for it there", machine_.name,
                  look.system.empty() ? "an unknown system" : look.system, cargo_.system};
    if (!look.fault.empty()) refuse_fault(look.fault);
    check_clock(look);
    if (!look.loader.missing_of_c_library.empty())
      throw Error{failed_precondition,
                  "{}: its C library is too old for this program (missing: {}); update that machine, or build Trireme on the oldest of "
                  "your machines",
                  machine_.name, fmt::join(look.loader.missing_of_c_library, ", ")};
  }

  void check_clock(const Look& look) const {
    if (look.clock == 0) return;  // its `date` knows no %s
    const std::string fault = clock_fault(machine_.name, static_cast<double>(look.clock - std::time(nullptr)), options_.clock);
    if (!fault.empty()) throw Error{failed_precondition, "{}", fault};
  }

  [[noreturn]] void refuse_fault(std::string_view fault) const {
    if (fault.find("No space left") != std::string_view::npos || fault.find("quota") != std::string_view::npos)
      throw Error{resource_exhausted, "{}: its disk is full ({}); {} are needed in ~/.cache/trireme", machine_.name, fault,
                  human_bytes(static_cast<double>(fs::file_size(cargo_.binary)))};
    if (fault.find("mkdir") != std::string_view::npos || fault.find("touch") != std::string_view::npos)
      throw Error{failed_precondition, "{}: ~/.cache/trireme can't be made there ({}); the user needs a home folder to write to",
                  machine_.name, fault};
    throw Error{failed_precondition, "{}: {}", machine_.name, fault};
  }

  std::vector<RemoteFile> missing_libraries(const Look& look) const {
    if (look.loader.missing.empty()) refuse_failure(look);
    std::vector<RemoteFile> files;
    for (const std::string& name : look.loader.missing) {
      const std::string there = "lib/" + name;
      const auto here = cargo_.libraries.find(name);
      if (here == cargo_.libraries.end() || std::find(report_.shipped.begin(), report_.shipped.end(), there) != report_.shipped.end())
        throw Error{failed_precondition, "{}: the library {} is missing there and can't be shipped from here; install it there",
                    machine_.name, name};
      files.push_back({here->second, there});
    }
    return files;
  }

  [[noreturn]] void refuse_failure(const Look& look) const {
    constexpr int kIllegalInstruction = 128 + 4;
    constexpr int kCannotExecute = 126;
    if (look.code == kIllegalInstruction)
      throw Error{failed_precondition, "{}: its CPU lacks instructions that this program needs (illegal instruction)", machine_.name};
    if (look.code == kCannotExecute)
      throw Error{failed_precondition, "{}: programs can't be run from ~/.cache there ({}); is it mounted noexec?", machine_.name,
                  look.messages};
    throw Error{failed_precondition, "{}: the program does not run there (code {}):{}", machine_.name, look.code, look.messages};
  }

  void ship(const std::vector<RemoteFile>& files) {
    const Parcel parcel(files);
    const auto bytes = static_cast<std::int64_t>(fs::file_size(parcel.path()));
    std::vector<std::string> names;
    for (const RemoteFile& file : files) names.push_back(file.name);
    if (on_event_)
      on_event_(fmt::format("{}: ships {} ({})", machine_.name, fmt::join(names, ", "), human_bytes(static_cast<double>(bytes))));
    const RemoteOutput output = run_remotely(
        machine_, options_, {.script = ship_script(cargo_.hash, files), .limit = limit_for(bytes), .input_file = parcel.path()});
    if (output.code != 0) refuse_transfer(output);
    report_.shipped.insert(report_.shipped.end(), names.begin(), names.end());
    report_.shipped_bytes += bytes;
  }

  static milliseconds limit_for(std::int64_t bytes) {
    constexpr std::int64_t kSlowestLink = 100'000;  // bytes/s
    return seconds(60 + bytes / kSlowestLink);
  }

  [[noreturn]] void refuse_transfer(const RemoteOutput& output) const {
    if (output.messages.find("No space left") != std::string::npos || output.messages.find("quota") != std::string::npos)
      refuse_fault("No space left on device");
    for (const std::string& line : output.lines)
      if (line.starts_with("broken "))
        throw Error{data_loss, "{}: {} arrived damaged there and is not used; try again", machine_.name, line.substr(7)};
    throw Error{unavailable, "{}: the program could not be brought there: {}", machine_.name, output.messages};
  }

  const Machine& machine_;
  const LaunchOptions& options_;
  const Cargo& cargo_;
  const OnShippingEvent& on_event_;
  ShippingReport report_;
};

}  // namespace

std::vector<ShippingReport> ship(const std::vector<Machine>& machines, const LaunchOptions& options, const OnShippingEvent& on_event) {
  const Cargo cargo{.binary = options.binary,
                    .hash = options.binary_hash.empty() ? digest_of_file(Digest::Kind::sha256, options.binary) : options.binary_hash,
                    .system = this_system(),
                    .libraries = shippable(libraries_of(options.binary))};
  std::mutex mutex;
  const OnShippingEvent report = [&](std::string_view event) {
    const std::scoped_lock lock(mutex);
    if (on_event) on_event(event);
  };
  std::vector<ShippingReport> reports(machines.size());
  std::vector<std::thread> threads;
  threads.reserve(machines.size());
  for (std::size_t i = 0; i < machines.size(); ++i)
    threads.emplace_back([&, i] { reports[i] = Shipment(machines[i], options, cargo, report).run(); });
  for (std::thread& thread : threads) thread.join();
  return reports;
}

void require_ready(const std::vector<ShippingReport>& reports) {
  std::vector<std::string> errors;
  for (const ShippingReport& report : reports)
    if (!report.error.empty()) errors.push_back(report.error);
  if (errors.empty()) return;
  if (errors.size() == 1) throw Error{failed_precondition, "{}", errors.front()};
  throw Error{failed_precondition, "{} of {} machines can't be used:\n  {}", errors.size(), reports.size(), fmt::join(errors, "\n  ")};
}

}  // namespace trireme::cluster
