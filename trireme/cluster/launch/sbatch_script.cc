// SPDX-License-Identifier: Apache-2.0
// The batch script: options for sbatch, then a shell that passes signals on to the training.
#include <fmt/format.h>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/slurm.h"

namespace trireme::cluster {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";

void check_characters(std::string_view value, const std::string& allowed, std::string_view flag) {
  if (value.find_first_not_of(allowed) != std::string_view::npos || value.starts_with('-'))
    throw Error{invalid_argument, "{} '{}': only these characters may stand there: {}", flag, value, allowed};
}

// Letters of the job file's name that sbatch, squeue and a shell all leave alone.
std::string job_name(const std::filesystem::path& job) {
  std::string name = "trireme-";
  for (const char c : job.stem().string())
    name += kLetters.find(c) != std::string_view::npos || kDigits.find(c) != std::string_view::npos || c == '_' || c == '-' ? c : '_';
  return name;
}

std::string directives(const SbatchOptions& o) {
  std::string text = fmt::format("#SBATCH --job-name={}\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node=1\n", job_name(o.job), o.nodes);
  if (o.cpus_per_task > 0) text += fmt::format("#SBATCH --cpus-per-task={}\n", o.cpus_per_task);
  if (!o.time.empty()) text += fmt::format("#SBATCH --time={}\n", o.time);
  if (!o.partition.empty()) text += fmt::format("#SBATCH --partition={}\n", o.partition);
  return text +
         "#SBATCH --output=slurm-%j.log\n#SBATCH --open-mode=append\n#SBATCH --requeue\n#SBATCH --no-kill\n#SBATCH --signal=B:USR1@60\n";
}

std::string settings_of(const SbatchOptions& o) {
  std::vector<std::string> words;
  for (const std::string& setting : o.settings) words.insert(words.end(), {"--set", setting});
  return as_typed(words);
}

// The shell stays to distinguish the end of the time (USR1) from a cancellation (TERM); Slurm signals it alone. It passes both on as USR1,
// because a second TERM would end a training that Slurm has already sent one, and INT is ignored by what a shell starts in the background.
constexpr std::string_view kBody = R"sh(
runs=slurm-$SLURM_JOB_ID
newest_checkpoint() { ls "$runs/latest/checkpoints" 2>/dev/null | tail -n 1; }

# A run is there: this job was requeued, and goes on.
arguments=("$job" --runs "$runs" "${settings[@]}")
if [ -e "$runs/latest" ]; then arguments=(--resume "$runs/latest"); fi
checkpoint=$(newest_checkpoint)

asked=
trap 'asked=USR1; kill -USR1 "$training"' USR1
trap 'asked=TERM; kill -USR1 "$training"' TERM
"$trireme" train "${arguments[@]}" --launcher slurm &
training=$!
while kill -0 "$training" 2>/dev/null; do wait "$training"; done
wait "$training"
code=$?

# The time was over, or too few machines were left: the rest is for the next turn, unless this one achieved nothing.
if { [ "$asked" = USR1 ] && [ "$code" -gt 128 ]; } || [ "$code" -eq 4 ]; then
  if [ "$(newest_checkpoint)" != "$checkpoint" ]; then
    scontrol requeue "$SLURM_JOB_ID" && exit "$code"
  fi
  echo "trireme: there is no checkpoint newer than the one this turn began with, so the job is not requeued" >&2
fi
if [ "$asked" = TERM ] && [ "$code" -gt 128 ]; then code=143; fi
exit "$code"
)sh";

}  // namespace

std::string sbatch_script(const SbatchOptions& o) {
  ensure(o.binary.is_absolute() && o.job.is_absolute(), "a batch script has absolute paths");
  check_characters(o.time, std::string(kDigits) + ":-", "--time");
  check_characters(o.partition, std::string(kLetters) + std::string(kDigits) + "._-,", "--partition");
  return fmt::format(
      "#!/bin/bash\n# Written by `trireme export sbatch`; hand it to sbatch. It trains in slurm-<job id>/ of the folder it is submitted "
      "from.\n{}\ntrireme={}\njob={}\nsettings=({})\n{}",
      directives(o), as_typed({o.binary.string()}), as_typed({o.job.string()}), settings_of(o), kBody);
}

}  // namespace trireme::cluster
