// SPDX-License-Identifier: Apache-2.0
// Authority, coordinator, conductor and launch of one training.
#include "trireme/run/launch/cluster_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "trireme/base/digest.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/host.h"
#include "trireme/base/rollback.h"
#include "trireme/base/version.h"
#include "trireme/cluster/inventory/addresses.h"
#include "trireme/cluster/launch/launch.h"
#include "trireme/cluster/launch/shipping.h"
#include "trireme/coord/coordinator.h"
#include "trireme/data/sets/data_files.h"
#include "trireme/data/sets/data_sets.h"
#include "trireme/engine/kernels/cpu.h"
#include "trireme/optim/optimizer.h"
#include "trireme/rpc/authority.h"
#include "trireme/run/launch/exit_queue.h"
#include "trireme/run/launch/new_machines.h"
#include "trireme/run/secrets/node_secrets.h"
#include "trireme/run/setup/cache_directory.h"
#include "trireme/run/terminal/exit_code.h"
#include "trireme/run/terminal/plan_table.h"
#include "trireme/run/training/disk_guard.h"
#include "trireme/run/training/run_past.h"
#include "trireme/run/training/run_records.h"
#include "trireme/train/checkpoint/checkpoint_layout.h"
#include "trireme/train/conductor/conductor.h"
#include "trireme/train/job/job.h"
#include "trireme/train/staging/staging.h"
#include "trireme/train/team/evaluator.h"

namespace trireme::run {
namespace {

constexpr std::chrono::seconds kGrace{5};  // for nodes to leave by themselves

std::int64_t checkpoint_bytes(const train::Job& job) {
  const auto slots = static_cast<std::int64_t>(optim::Optimizer::from_config(job.optimizer, job.graph.parameters()).slots().size());
  const std::int64_t model = job.graph.parameters().size() + job.graph.states().size();
  const std::int64_t values = (job.train.keep_best ? 2 : 1) * model + slots * job.graph.parameters().size();
  return values * static_cast<std::int64_t>(sizeof(float)) + (1 << 20);
}

// The coordinator looks at the data once, for their form and mean: a cache of its own would take memory from the nodes beside it.
data::DataRequest uncached(data::DataRequest request) {
  request.pipeline.cache = "none";
  return request;
}

void apply_request(const ClusterRequest& request, cluster::NodePlan& plan) {
  plan.keep = request.secret.empty() ? request.keep_nodes : 0;
  plan.events = request.events;
}

class ClusterRun {
 public:
  ClusterRun(const TrainingRequest& request, ClusterRequest cluster, const Console& console, const std::atomic<int>& stop)
      : request_(request),
        cluster_(std::move(cluster)),
        plans_(cluster_.plans),
        console_(console),
        guard_(watched_directory(request), guard_options(request, console, clock_, stop)),
        job_(train::job_from_config(request.config)),
        data_(open_data(request, uncached(job_.data))),
        records_((train::check_fit(job_.graph, data_.train->format(), job_.data.title()), request), job_, data_, console, guard_),
        store_(records_.directory().checkpoints(), job_.graph, records_.checkpoint_watch()),
        checkpoints_(store_, clock_, checkpoint_events()),
        conductor_(
            checkpoint_bytes(job_), [this](train::Checkpoint checkpoint) { return keep(std::move(checkpoint)); }, clock_),
        secret_(!cluster_.secret.empty() ? cluster_.secret
                : cluster_.takeover      ? cluster_.takeover->secret
                                         : random_bytes(32)),
        authority_(rpc::Authority::from_secret(secret_)),
        key_(hmac_sha256(secret_, "collectives")) {
    if (cluster_.events.empty()) return;
    make_directories(cluster_.events);
    events_.emplace(cluster_.events / fmt::format("coordinator-{}.jsonl", ::getpid()));
  }

  int run(const std::atomic<int>& stop) {
    records_.begin(cluster_.plans.empty() ? 0 : cluster_.plans.front().threads, static_cast<std::int64_t>(nodes().size()), machinery());
    const RunPast past = request_.resume.empty() ? RunPast{} : read_past(records_.directory().journal());
    plan_ = plan_after(past, records_.plan());
    if (const auto checkpoint = records_.resume(checkpoints_)) conductor_.begin_with(*checkpoint);
    if (cluster_.takeover) conductor_.take_over(past.step, past.epochs);
    event("start", {{"run", records_.directory().path().string()},
                    {"min_nodes", std::int64_t{cluster_.min_nodes}},
                    {"max_nodes", std::int64_t{cluster_.max_nodes}},
                    {"nodes", fmt::format("{}", fmt::join(nodes(), " "))}});
    try {
      const int code = train(past.generation, stop);
      event("exit", {{"code", std::int64_t{code}}, {"reason", "end"}});
      return code;
    } catch (const Error& error) {  // only noted: records must say that the run failed; main reports why
      event("exit", {{"code", std::int64_t{exit_code_of(error.code())}}, {"reason", error.what()}});
      records_.failed(conductor_.cursor(), checkpoints_);
      if (std::filesystem::exists(records_.directory().checkpoints()) && !std::filesystem::is_empty(records_.directory().checkpoints()))
        console_.err << fmt::format("the last checkpoint is good; continue with trireme train --resume {} and the same machines\n",
                                    records_.directory().path().string());
      throw;
    }
  }

 private:
  int train(std::uint64_t last_generation, const std::atomic<int>& stop) {
    coord::Coordinator coordinator(coordinator_options());
    const Takeover::File takeover = leave_takeover(coordinator);
    ExitQueue exits;
    cluster::Launch launch(cluster::find_launcher(cluster_.launcher), cluster_.options, {}, launch_events(exits));
    train::ConductorOptions options = conductor_options(exits);
    options.job.last_generation = last_generation;
    options.job.plan = plan_;
    std::optional<NewMachines> new_machines;
    if (!cluster_.machines_file.empty()) {
      new_machines.emplace(new_machines_options());
      options.more = [&] { return names_of(new_machines->take()); };
    }
    options.start = [&](const std::string& node) { launch.start(launched_node(node, coordinator.port())); };
    guard_.before_exit([&] {  // on another thread: the loop starts no node any more, or hangs
      coordinator.dismiss_all();
      launch.end(kGrace);
    });
    const Rollback stays([this] { guard_.before_exit({}); });
    const auto result = conductor_.run(coordinator, options, records_.observer(), stop);
    launch.end(kGrace);
    return records_.finish(result, conductor_.cursor(), stop, checkpoints_);
  }

  NewMachines::Options new_machines_options() {
    return {.file = cluster_.machines_file,
            .read = cluster_.read_machines,
            .launch = cluster_.options,
            .known = cluster_.plans,
            .threads = cluster_.threads,
            .say = [this](const std::string& line) { say(line); }};
  }

  std::vector<std::string> names_of(const std::vector<cluster::NodePlan>& plans) {
    std::vector<std::string> names;
    for (const cluster::NodePlan& plan : plans) {
      plans_.add(plan);
      names.push_back(plan.name);
    }
    return names;
  }

  // Nodes that come by themselves share a secret of their own with us, and end with us.
  Takeover::File leave_takeover(const coord::Coordinator& coordinator) const {
    if (!cluster_.secret.empty() || cluster_.keep_nodes <= 0) return {};
    return Takeover::File(takeover_file(records_.directory().path()), {.secret = secret_,
                                                                       .port = coordinator.port(),
                                                                       .launcher = cluster_.launcher,
                                                                       .addresses = listening_addresses(),
                                                                       .nodes = nodes()});
  }

  void event(std::string_view type, const observe::Fields& fields) {
    if (events_) events_->write(type, fields);
  }

  std::vector<std::string> nodes() const {
    std::vector<std::string> names;
    for (const cluster::NodePlan& plan : cluster_.plans) names.push_back(plan.name);
    names.insert(names.end(), cluster_.others.begin(), cluster_.others.end());
    // Those of the coordinator before, any of which may come.
    if (cluster_.takeover)
      for (const std::string& name : cluster_.takeover->nodes)
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    return names;
  }

  std::string machinery() const {
    std::set<std::string> machines;
    for (const cluster::NodePlan& plan : cluster_.plans) machines.insert(plan.machine.name);
    std::string who = train::duties_text(job_.strategy, static_cast<int>(nodes().size()));
    if (cluster_.plans.empty() || !cluster_.others.empty()) return who;
    const std::int64_t threads = cluster_.plans.front().threads;
    const std::string place = cluster::find_launcher(cluster_.launcher).is_here
                                  ? "on this machine"
                                  : fmt::format("on {} {}", machines.size(), machines.size() == 1 ? "machine" : "machines");
    return fmt::format("{}{} {}", who, threads > 0 ? fmt::format(" of {} {}", threads, threads == 1 ? "thread" : "threads") : "", place);
  }

  // Our address as the machine of `plan` sees it.
  std::string address_for(const cluster::NodePlan& plan) const {
    if (!cluster_.address.empty()) return cluster_.address;
    return cluster::find_launcher(cluster_.launcher).is_here ? "127.0.0.1" : cluster::address_towards(plan.machine.address);
  }

  std::vector<std::string> listening_addresses() const {
    std::set<std::string> addresses;
    if (cluster_.takeover) addresses.insert(cluster_.takeover->addresses.begin(), cluster_.takeover->addresses.end());
    for (const cluster::NodePlan& plan : cluster_.plans) addresses.insert(address_for(plan));
    return {addresses.begin(), addresses.end()};
  }

  coord::Coordinator::Options coordinator_options() {
    const std::vector<std::string> hosts = listening_addresses();
    const train::DataManifest files = manifest();
    return {.addresses = hosts,
            .port = cluster_.takeover ? cluster_.takeover->port : cluster_.port,
            .credentials = certificate({.role = "coordinator", .name = "coordinator"}, hosts),
            .version = std::string(version()),
            .welcome = train::pack(train::Welcome{.job = train::job_file_of(train::settings_of(request_.config))}),
            .expected = coord::JobFingerprint{.version = std::string(version()),
                                              .job = train::job_hash(request_.config),
                                              .model = train::model_hash(job_.graph),
                                              .data = files.hash()},
            .methods = methods(files),
            .renewal = {.issue = [this](const rpc::Identity& identity,
                                        const std::vector<std::string>& of) { return certificate(identity, of); },
                        .validity = Seconds(cluster_.certificate_seconds)},
            .warn = [this](const std::string& line) { warn(line); }};
  }

  rpc::Credentials certificate(const rpc::Identity& identity, const std::vector<std::string>& hosts) const {
    const Seconds validity{cluster_.certificate_seconds};
    return authority_.issue(identity, hosts, validity, std::min(rpc::Authority::kClockSlack, validity / 4));
  }

  void warn(const std::string& line) const {
    console_.err << fmt::format("{}trireme: warning: {}\n", request_.terminal ? "\r\033[K" : "", line) << std::flush;
  }

  train::DataManifest manifest() const {
    const std::filesystem::path cache = cache_directory();
    train::FileDigests digests(cache.empty() ? cache : cache / "digests.json");
    train::DataManifest manifest = train::manifest_of(data::data_files(job_.data), digests);
    digests.save();
    return manifest;
  }

  std::vector<coord::Coordinator::Method> methods(train::DataManifest manifest) {
    std::vector<coord::Coordinator::Method> methods = train::staging_methods(std::move(manifest));
    for (coord::Coordinator::Method& method : conductor_.methods()) methods.push_back(std::move(method));
    return methods;
  }

  cluster::Launch::Node launched_node(const std::string& name, int port) const {
    cluster::NodePlan plan = plans_.find(name).value();
    apply_request(cluster_, plan);
    const NodeSecrets secrets{.coordinator = join_host_port(address_for(plan), port),
                              .credentials = certificate({.role = "node", .name = plan.name}, {plan.machine.address}),
                              .key = key_,
                              .host = plan.machine.name,
                              .slots = plan.machine.slots};
    return {.plan = plan, .input = to_line(secrets)};
  }

  cluster::LaunchEvents launch_events(ExitQueue& exits) {
    return {.on_line =
                [this](std::string_view node, std::string_view line) {
                  const auto plan = plans_.find(node);  // on a thread of the launch
                  const std::string machine = plan ? plan->machine.name : "";
                  console_.err << fmt::format("{}[{} {}] {}\n", request_.terminal ? "\r\033[K" : "", node, machine, line) << std::flush;
                },
            .on_exit = [&exits](const cluster::NodeExit& exit) { exits.add(exit); }};
  }

  train::ConductorOptions conductor_options(ExitQueue& exits) {
    std::set<std::string> startable;
    for (const cluster::NodePlan& plan : cluster_.plans) startable.insert(plan.name);
    return {.job = {.nodes = nodes(),
                    .min_nodes = cluster_.min_nodes,
                    .start_nodes = cluster_.starts_with_min ? cluster_.min_nodes : 0,
                    .max_nodes = cluster_.max_nodes,
                    .restarts = cluster_.restarts,
                    .startable = std::move(startable),
                    .takes_over = cluster_.takeover.has_value(),
                    .checkpoint_seconds = job_.train.checkpoint_seconds,
                    .start_timeout = Seconds(cluster_.start_timeout),
                    .stuck = Seconds(job_.strategy.team.stuck_seconds),
                    .policies = train::policies_of(job_)},
            .exits = [&exits] { return exits.take(); },
            .announced = [this](const coord::Generation& generation) { note(generation); },
            .write_records = [this] { return records_.flush(); },
            .say = [this](const std::string& line) { say(line); },
            .record = [this](std::string_view type, const observe::Fields& fields) { records_.record(type, fields); },
            .events = events_ ? &*events_ : nullptr,
            .telemetry = [this](const std::string& node, const std::string& host,
                                const train::TelemetryReport& report) { records_.record_telemetry(node, host, report); },
            .profile = [this](const std::string& node, const std::string& lines) { records_.record_profile(node, lines); }};
  }

  void say(const std::string& line) const {
    console_.err << fmt::format("{}trireme: {}\n", request_.terminal ? "\r\033[K" : "", line) << std::flush;
  }

  void note(const coord::Generation& generation) {
    std::error_code gone;
    if (!cluster_.secret_file.empty()) std::filesystem::remove(cluster_.secret_file, gone);
    std::vector<std::string> hosts;
    for (const coord::Member& member : generation.members) hosts.push_back(member.host);
    const train::Plan plan = train::unpack_plan(generation.plan);
    records_.record_strategies(plan);
    records_.record("generation", {{"generation", static_cast<std::int64_t>(generation.number)},
                                   {"workers", std::int64_t{generation.size()}},
                                   {"hosts", fmt::format("{}", fmt::join(hosts, " "))},
                                   {"plan", train::text_of(plan)}});
    records_.sync();      // before any node acts on it: its number must not be given twice
    checkpoints_.drop();  // the nodes have what could not be written; or it is of steps that are done again
  }

  std::optional<train::CheckpointRecord> keep(train::Checkpoint checkpoint) {
    checkpoint.normalization = data_.normalization;
    checkpoint.class_names = data_.class_names;
    return checkpoints_.save(std::move(checkpoint));
  }

  train::CheckpointKeeper::Events checkpoint_events() {
    train::CheckpointKeeper::Events events = records_.checkpoint_events();
    // Before the worker learns of it, and before another generation can be announced.
    events.written = [this](const train::Checkpoint& checkpoint, const train::CheckpointRecord& record) {
      event("commit", {{"generation", checkpoint.generation},
                       {"step", checkpoint.cursor.step},
                       {"epoch", checkpoint.cursor.epoch},
                       {"offset", checkpoint.cursor.epoch_offset},
                       {"directory", record.directory.string()}});
      if (events_) events_->sync();
    };
    return events;
  }

  const TrainingRequest& request_;
  const ClusterRequest cluster_;
  PlanTable plans_;  // those of the request, and of machines that were added since
  const Console& console_;
  SteadyClock clock_;
  DiskGuard guard_;
  train::Job job_;
  data::DataSets data_;
  RunRecords records_;
  train::CheckpointStore store_;
  train::CheckpointKeeper checkpoints_;
  train::Conductor conductor_;
  train::Plan plan_;
  std::string secret_;
  rpc::Authority authority_;
  std::string key_;
  std::optional<observe::Journal> events_;
};

}  // namespace

std::vector<cluster::NodePlan> local_plans(std::int64_t count, std::int64_t threads) {
  return cluster::plan_nodes({{.name = host_name(), .address = "127.0.0.1", .slots = count}},
                             threads > 0 ? threads : engine::usable_cores());
}

std::string dry_run(const ClusterRequest& request) {
  const cluster::LauncherEntry& launcher = cluster::find_launcher(request.launcher);
  std::string text;
  for (cluster::NodePlan plan : request.plans) {
    apply_request(request, plan);
    text += fmt::format("[{} {}] {}\n", plan.name, plan.machine.name, cluster::as_typed(launcher.command(plan, request.options)));
  }
  return text;
}

namespace {

// The program is on every machine before anything is made or started; what is wrong with any of them is reported at once.
void ship_program(ClusterRequest& cluster, const Console& console) {
  const auto show = [&](std::string_view event) { console.err << event << "\n" << std::flush; };
  const auto reports = cluster::ship(cluster::machines_of(cluster.plans), cluster.options, show);
  for (const cluster::ShippingReport& report : reports)
    for (const std::string& warning : report.warnings) console.err << "trireme: warning: " << warning << "\n";
  cluster::require_ready(reports);
  for (cluster::NodePlan& plan : cluster.plans)
    plan.has_shipped_libraries = std::ranges::find(reports, plan.machine.name, &cluster::ShippingReport::machine)->has_shipped_libraries;
}

}  // namespace

int run_cluster_training(const TrainingRequest& request, ClusterRequest cluster, const Console& console, const std::atomic<int>& stop) {
  if (cluster::find_launcher(cluster.launcher).is_remote) {
    train::job_from_config(request.config);  // a mistake there is reported before anything is shipped
    ship_program(cluster, console);
  }
  return ClusterRun(request, std::move(cluster), console, stop).run(stop);
}

}  // namespace trireme::run
