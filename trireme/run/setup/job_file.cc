// SPDX-License-Identifier: Apache-2.0
// The job file with the command line's --set on top of it.
#include "trireme/run/setup/job_file.h"

#include <filesystem>

#include "trireme/base/error.h"
#include "trireme/data/sets/file_options.h"
#include "trireme/run/setup/short_forms.h"

namespace trireme::run {
namespace {

Config absolute(const Config& value, const std::filesystem::path& base) {
  if (value.is_text()) return {std::filesystem::absolute(base / value.text()).lexically_normal().string(), value.origin()};
  Config::List files;
  for (const Config& file : value.list()) files.push_back(absolute(file, base));
  return {std::move(files), value.origin()};
}

void make_files_absolute(Config& job, const std::filesystem::path& base) {
  std::vector<std::string_view> keys{"train", "test"};
  keys.insert(keys.end(), data::kFileOptions.begin(), data::kFileOptions.end());
  for (const std::string_view key : keys) {
    const Config* data = job.find("data");
    const Config* files = data == nullptr || !data->is_table() ? nullptr : data->find(key);
    if (files != nullptr) job.set(fmt::format("data.{}", key), absolute(*files, base).to_toml(), files->origin());
  }
}

// A word without quotes is a text, but what begins as a table or a list must be one.
void check_value(const std::string& setting, const std::string& value) {
  if (value.empty() || (value[0] != '{' && value[0] != '[')) return;
  try {
    Config::parse_toml("value = " + value, "");
  } catch (const Error&) {  // toml++ would speak of a file that is none
    throw Error{invalid_argument,
                "--set {}: this is no TOML list or table; texts in it need quotes, e.g. --set 'train.optimizer={{name = \"adam\", "
                "learning_rate = 0.001}}'",
                setting};
  }
}

// A folder for all is what people begin with; everything below load_job knows `train` only.
void name_train_files(Config& job) {
  const Config* data = job.find("data");
  const Config* path = data == nullptr || !data->is_table() ? nullptr : data->find("path");
  if (path == nullptr) return;
  if (data->find("train") != nullptr)
    throw Error{invalid_argument, "{}: [data] has both path and train, which are the same; leave one out", path->origin()};
  job.rename("data.path", "train");
}

}  // namespace

void apply_settings(Config& job, const std::vector<std::string>& settings) {
  expand_short_forms(job);
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    if (equals == std::string::npos || key.find('.') == std::string::npos)
      throw Error{invalid_argument, "--set {}: write it as table.key=value, e.g. --set model.depth=50", setting};
    const std::string value = setting.substr(equals + 1);
    check_value(setting, value);
    job.set(full_key(key), value, "--set " + setting);
    expand_short_forms(job);
  }
}

namespace {

Config completed(Config job, const std::filesystem::path& folder, const std::vector<std::string>& settings) {
  name_train_files(job);
  make_files_absolute(job, folder);
  apply_settings(job, settings);
  name_train_files(job);
  make_files_absolute(job, "");
  return job;
}

}  // namespace

Config job_from_text(const std::string& text, const std::string& name, const std::vector<std::string>& settings) {
  return completed(Config::parse_toml(text, name), "", settings);
}

Config load_job(const std::string& path, const std::vector<std::string>& settings) {
  return completed(Config::load_toml(path), std::filesystem::path(path).parent_path(), settings);
}

}  // namespace trireme::run
