// SPDX-License-Identifier: Apache-2.0
// Variables, and a secret in a file.
#include "trireme/run/launch/env_launch.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/base/host.h"
#include "trireme/cluster/inventory/addresses.h"
#include "trireme/cluster/inventory/machine.h"
#include "trireme/run/secrets/launch_secret.h"
#include "trireme/run/setup/cache_directory.h"
#include "trireme/run/setup/own_process.h"
#include "trireme/train/job/job.h"

namespace trireme::run {
namespace {

std::int64_t number(const char* name, std::int64_t least, std::int64_t most) {
  const std::string text = environment_variable(name);
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw Error{invalid_argument,
                "the environment has {}='{}'; with RANK and WORLD_SIZE it must be a number from {} to {}",
                name,
                text,
                least,
                most};
  return value;
}

// In the user's own cache: found by every process of this machine, and of others that share the home directory.
std::filesystem::path default_secret_file(const EnvLaunch& env) {
  const std::filesystem::path cache = cache_directory();
  if (cache.empty()) throw Error{invalid_argument, "there is no home directory to share a secret in; give --secret-file"};
  return cache / fmt::format("launch-{}-{}.secret", env.address, env.port);
}

}  // namespace

std::optional<EnvLaunch> env_launch(const std::string& secret_file) {
  if (environment_variable("RANK").empty() || environment_variable("WORLD_SIZE").empty()) return std::nullopt;
  EnvLaunch env{.size = number("WORLD_SIZE", 1, 1 << 16)};
  if (env.size == 1) return std::nullopt;
  env.rank = number("RANK", 0, env.size - 1);
  env.address = environment_variable("MASTER_ADDR");
  if (env.address.empty()) throw Error{invalid_argument, "the environment has RANK and WORLD_SIZE, but no MASTER_ADDR: where is rank 0?"};
  env.port = static_cast<int>(number("MASTER_PORT", 1, 65535));
  if (!environment_variable("LOCAL_WORLD_SIZE").empty()) env.local_size = number("LOCAL_WORLD_SIZE", 1, env.size);
  env.own_secret = secret_file.empty();
  env.secret_file = env.own_secret ? default_secret_file(env).string() : secret_file;
  return env;
}

ClusterRequest env_cluster_request(const EnvLaunch& env, const NodesRequest& nodes, const TrainingRequest& request) {
  ClusterRequest cluster{.launcher = "env", .plans = local_plans(1, 0), .start_timeout = nodes.start_timeout};
  cluster.options.binary = node_program(nodes);
  cluster.plans.front().threads = train::job_from_config(request.config).train.threads;
  cluster.plans.front().machine.slots = env.local_size;
  for (std::int64_t rank = 1; rank < env.size; ++rank) cluster.others.push_back(fmt::format("{}", rank));
  cluster.address = cluster::address_towards(env.address);
  cluster.port = env.port;
  if (env.own_secret) {
    make_secret_file(env.secret_file);
    cluster.secret_file = env.secret_file;
  }
  cluster.secret = read_secret_file(env.secret_file);
  return cluster;
}

int run_env_node(const EnvLaunch& env, const NodeOptions& options, const Console& console) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.start_timeout);
  std::string why = fmt::format("{} never came; without a home directory shared with rank 0 give --secret-file", env.secret_file);
  while (std::chrono::steady_clock::now() < end) {
    std::error_code none;
    if (std::filesystem::exists(env.secret_file, none)) {
      const std::string secret = read_secret_file(env.secret_file);
      try {
        NodeSecrets secrets = secrets_of_rank(env.rank, join_host_port(env.address, env.port), secret);
        secrets.slots = env.local_size;
        return run_node(secrets, options, console);
      } catch (const Error& error) {  // a file of an earlier launch: rank 0 has not written its own yet
        if (error.code() != unauthenticated) throw;
        why = error.what();
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  throw Error{deadline_exceeded, "rank {} found no coordinator within {:g} s: {}", env.rank, options.start_timeout, why};
}

}  // namespace trireme::run
