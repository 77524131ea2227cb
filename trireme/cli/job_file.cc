// SPDX-License-Identifier: Apache-2.0
// The job file with the command line's --set on top of it.
#include "trireme/cli/job_file.h"

#include "trireme/base/error.h"

namespace trireme::cli {

void apply_settings(Config& job, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    if (equals == std::string::npos || key.find('.') == std::string::npos)
      throw Error{invalid_argument, "--set {}: write it as table.key=value, e.g. --set model.depth=50", setting};
    job.set(key, setting.substr(equals + 1), "--set " + setting);
  }
}

Config load_job(const std::string& path, const std::vector<std::string>& settings) {
  Config job = Config::load_toml(path);
  apply_settings(job, settings);
  return job;
}

}  // namespace trireme::cli
