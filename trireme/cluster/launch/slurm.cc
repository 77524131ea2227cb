// SPDX-License-Identifier: Apache-2.0
// Slurm's variables and its client programs.
#include "trireme/cluster/launch/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/cluster/process/munge.h"

namespace trireme::cluster {
namespace {

using std::chrono::seconds;

constexpr seconds kAnswerTimeout{30};    // of the controller, which may be busy
constexpr seconds kProgramTimeout{120};  // to read the program once on every machine
constexpr std::int64_t kMaxMachines = 1 << 16;

// On each machine: has it munge's program, has it the probe, which program is there.
constexpr std::string_view kLook =
    "command -v unmunge > /dev/null && echo unmunge; test -r \"$2\" && echo folder; exec sha256sum -- \"$1\"";

std::int64_t count_of(std::string_view digits, std::string_view text, std::string_view variable) {
  std::int64_t count = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (fault != std::errc() || end != digits.data() + digits.size() || count < 1 || count > kMaxMachines)
    throw Error{invalid_argument, "{}='{}' is not what Slurm writes, e.g. 2(x3),1; is this process really inside an allocation?", variable,
                text};
  return count;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

// "NodeName=n1 Arch=x86_64 ... NodeAddr=10.0.0.1 ..." of each machine.
std::map<std::string, std::string> addresses_of(std::string_view records) {
  std::map<std::string, std::string> addresses;
  for (const std::string& line : lines_of(std::string(records))) {
    std::istringstream words(line);
    std::string name;
    for (std::string word; words >> word;) {
      if (word.starts_with("NodeName=")) name = word.substr(9);
      if (word.starts_with("NodeAddr=")) addresses[name] = word.substr(9);
    }
  }
  return addresses;
}

std::string answer_of(const std::vector<std::string>& command) {
  const ProcessOutput output = run_process(command, kAnswerTimeout);
  if (!output.status)
    throw Error{unavailable, "`{}` did not answer within {} s; is Slurm's controller alive (scontrol ping)?", as_typed(command),
                kAnswerTimeout.count()};
  if (!output.status->is_success()) throw Error{unavailable, "`{}` {}: {}", as_typed(command), output.status->in_words(), output.err};
  return output.out;
}

std::vector<std::int64_t> counts_for(std::size_t machines, std::string_view text, std::string_view variable) {
  std::vector<std::int64_t> counts = expand_counts(text, variable);
  if (counts.size() != machines)
    throw Error{invalid_argument, "{}='{}' is for {} machines, but the allocation has {}", variable, text, counts.size(), machines};
  return counts;
}

}  // namespace

std::optional<SlurmVariables> slurm_variables(const Environment& environment) {
  SlurmVariables slurm{.job_id = environment("SLURM_JOB_ID"),
                       .node_list = environment("SLURM_JOB_NODELIST"),
                       .tasks_per_node = environment("SLURM_TASKS_PER_NODE"),
                       .cpus_per_node = environment("SLURM_JOB_CPUS_PER_NODE"),
                       .cpus_per_task = environment("SLURM_CPUS_PER_TASK")};
  if (slurm.job_id.empty()) return std::nullopt;
  return slurm;
}

std::vector<std::int64_t> expand_counts(std::string_view text, std::string_view variable) {
  std::vector<std::int64_t> counts;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    std::string_view part = rest.substr(0, comma);
    std::int64_t times = 1;
    if (const std::size_t mark = part.find("(x"); mark != std::string_view::npos && part.ends_with(')')) {
      times = count_of(part.substr(mark + 2, part.size() - mark - 3), text, variable);
      part = part.substr(0, mark);
    }
    counts.insert(counts.end(), static_cast<std::size_t>(times), count_of(part, text, variable));
    if (comma == std::string_view::npos) return counts;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<Machine> slurm_machines(const SlurmVariables& variables, const std::vector<std::string>& names, std::string_view records) {
  const auto or_ones = [&](const std::string& text) { return text.empty() ? fmt::format("1(x{})", names.size()) : text; };
  const auto tasks = counts_for(names.size(), or_ones(variables.tasks_per_node), "SLURM_TASKS_PER_NODE");
  const auto cpus = counts_for(names.size(), or_ones(variables.cpus_per_node), "SLURM_JOB_CPUS_PER_NODE");
  const std::int64_t cpus_per_task =
      variables.cpus_per_task.empty() ? 0 : count_of(variables.cpus_per_task, variables.cpus_per_task, "SLURM_CPUS_PER_TASK");
  const auto addresses = addresses_of(records);
  std::vector<Machine> machines;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto address = addresses.find(names[i]);
    Machine machine{.name = names[i], .address = address == addresses.end() ? names[i] : address->second, .slots = tasks[i]};
    check_name(machine.name, "name", "SLURM_JOB_NODELIST");
    check_address(machine.address, fmt::format("the NodeAddr of {}", machine.name));
    // Without SLURM_JOB_CPUS_PER_NODE nothing is known, and a node takes the CPUs that it finds itself allowed to use.
    if (cpus_per_task > 0)
      machine.cores = cpus_per_task * machine.slots;
    else if (!variables.cpus_per_node.empty())
      machine.cores = cpus[i];
    machines.push_back(std::move(machine));
  }
  return machines;
}

Inventory slurm_inventory(const SlurmVariables& variables) {
  if (variables.node_list.empty())
    throw Error{failed_precondition, "Slurm's job {} has no SLURM_JOB_NODELIST; start it with sbatch or inside salloc", variables.job_id};
  const std::vector<std::string> names = lines_of(answer_of({"scontrol", "show", "hostnames", variables.node_list}));
  const std::string records = answer_of({"scontrol", "--oneliner", "show", "node", variables.node_list});
  return {.origin = fmt::format("Slurm's job {}", variables.job_id), .machines = slurm_machines(variables, names, records)};
}

MachineMeans require_same_program(const std::vector<Machine>& machines, const LaunchOptions& options, const std::filesystem::path& probe) {
  const std::size_t count = machines.size();
  std::vector<std::string> names;
  for (const Machine& machine : machines) names.push_back(machine.name);
  // --label begins each line with the task's number; tasks stand in the machines' order, one on each.
  const ProcessOutput output =
      run_process({"srun", "--quiet", "--overlap", "--mem=0", "--label", fmt::format("--nodes={}", count),
                   fmt::format("--ntasks={}", count), "--ntasks-per-node=1", fmt::format("--nodelist={}", fmt::join(names, ",")),
                   "--kill-on-bad-exit=0", "sh", "-c", std::string(kLook), "sh", options.binary.string(), probe.string()},
                  kProgramTimeout);
  if (!output.status)
    throw Error{unavailable, "no step of the allocation began within {} s; is one of its machines down (sinfo -N)?",
                kProgramTimeout.count()};
  std::vector<std::string> lacking = names;
  std::size_t with_unmunge = 0, with_folder = 0;
  for (const std::string& line : lines_of(output.out)) {
    std::istringstream words(line);
    std::size_t task = count;
    std::string colon, hash;
    // "0: hash  path"; sha256sum marks a path with odd characters by a backslash before the hash
    if (!(words >> task >> colon >> hash) || task >= count) continue;
    if (hash == "unmunge") ++with_unmunge;
    if (hash == "folder") ++with_folder;
    if (hash == options.binary_hash || hash == "\\" + options.binary_hash) std::erase(lacking, names[task]);
  }
  if (lacking.empty()) return {.unmunge = with_unmunge == count, .folder = with_folder == count};
  if (lacking.size() == count && !output.status->is_success() && output.out.empty() && output.err.find("sha256sum") == std::string::npos)
    throw Error{unavailable, "srun {}: {}", output.status->in_words(), output.err};
  throw Error{
      failed_precondition,
      "{}: the program {} is not there, or is another one; with Slurm it must be in a folder that all machines share. Copy it there "
      "(e.g. into your home directory) and start it from there",
      fmt::join(lacking, ", "), options.binary.string()};
}

// "AuthInfo                = socket=/run/munge/other.socket,cred_expire=5"
std::string slurm_munge_socket(std::string_view configuration) {
  constexpr std::string_view kSocket = "socket=";
  for (const std::string& line : lines_of(std::string(configuration))) {
    const std::size_t at = line.find(kSocket);
    if (!line.starts_with("AuthInfo") || at == std::string::npos) continue;
    return line.substr(at + kSocket.size(), line.find_first_of(", ", at) - at - kSocket.size());
  }
  return "";
}

std::string slurm_munge_socket() { return slurm_munge_socket(answer_of({"scontrol", "show", "config"})); }

HandOver slurm_hand_over(const MachineMeans& means, const std::string& socket, const std::filesystem::path& folder) {
  if (means.unmunge) {
    try {
      munge_encode("", socket);
      return {.way = HandOver::Way::munge, .socket = socket};
    } catch (const Error&) {  // not here: the batch script's machine may be another one
    }
  }
  if (means.folder) return {.way = HandOver::Way::file, .folder = folder};
  return {};
}

ExitStatus node_exit_of_srun(const ExitStatus& status) {
  constexpr int kSignalled = 128;
  constexpr int kMaxSignal = 64;
  if (status.signal != 0 || status.code <= kSignalled || status.code > kSignalled + kMaxSignal) return status;
  return {.code = 0, .signal = status.code - kSignalled};
}

}  // namespace trireme::cluster
