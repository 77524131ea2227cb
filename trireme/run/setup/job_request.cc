// SPDX-License-Identifier: Apache-2.0
// The job file, its changes in their order, and its data.
#include "trireme/run/setup/job_request.h"

#include <fmt/format.h>

#include "trireme/base/error.h"
#include "trireme/run/setup/data_directory.h"
#include "trireme/run/setup/data_lookup.h"
#include "trireme/run/setup/job_file.h"
#include "trireme/run/setup/strategy_choice.h"
#include "trireme/train/checkpoint/run_directory.h"
#include "trireme/train/job/job.h"

namespace trireme::run {
namespace {

Config config_of(const JobRequest& request) {
  if (!request.resume.empty()) return load_job(train::RunDirectory::open(request.resume).config().string(), request.settings);
  if (!request.text.empty()) return job_from_text(request.text, "job.toml", request.settings);
  std::error_code fault;
  if (std::filesystem::status(request.file, fault).type() == std::filesystem::file_type::not_found)
    throw Error{not_found,
                "{}: there is no such file or folder; name a job file, or for `trireme train` your data: a folder of pictures, a table",
                std::string(request.file)};
  return load_job(request.file, request.settings);
}

}  // namespace

Config load_job(const JobRequest& request, const Console& console) {
  if (request.file.empty() == request.resume.empty())
    throw Error{invalid_argument, "give either a job file or --resume RUN, which continues a run with its own job (and --set on top)"};
  Config config = config_of(request);
  if (request.threads >= 0) config.set("train.threads", fmt::format("{}", request.threads), "--threads");
  if (!request.strategy.empty()) choose_strategy(config, request.strategy);
  if (!request.profile.empty()) config.set("observe.profile", toml_quoted(request.profile), "--profile");
  resolve_data(config, console);
  return config;
}

std::string hash_of_file(const JobRequest& request) {
  if (request.file.empty()) return "";
  Config config = load_job(request.file, request.settings);
  if (!request.strategy.empty()) choose_strategy(config, request.strategy);
  if (const fetch::SetEntry* set = public_set(config)) name_files(config, *set, data_directory());
  return train::job_hash(config);
}

}  // namespace trireme::run
