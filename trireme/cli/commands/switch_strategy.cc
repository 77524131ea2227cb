// SPDX-License-Identifier: Apache-2.0
// switch: asks a run that is going to train with another strategy from the next step on.
#include <fmt/format.h>

#include <memory>
#include <thread>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/host.h"
#include "trireme/cli/command_entry.h"
#include "trireme/cli/run_status.h"
#include "trireme/cluster/inventory/machine.h"
#include "trireme/observe/journal_reader.h"
#include "trireme/rpc/authority.h"
#include "trireme/rpc/channel.h"
#include "trireme/run/training/takeover.h"
#include "trireme/train/checkpoint/run_directory.h"
#include "trireme/train/job/job.h"
#include "trireme/train/messages/reports.h"

namespace trireme::cli::commands {
namespace {

constexpr Seconds kValidity{3600};
constexpr Seconds kCallTimeout{10};
constexpr Seconds kLook{0.1};

struct Options {
  std::string run;
  std::string to;
  std::string slots = "carry";
  double wait = 60;
};

rpc::Channel reach(const run::Takeover& takeover, const std::string& run) {
  const rpc::Authority authority = rpc::Authority::from_secret(takeover.secret);
  if (takeover.addresses.empty()) throw Error{unavailable, "{}: its coordinator listens nowhere", run};
  try {
    return rpc::Channel::connect(join_host_port(takeover.addresses.front(), takeover.port),
                                 authority.issue({.role = "user", .name = "user"}, {}, kValidity), kCallTimeout);
  } catch (const Error& error) {  // thrown again, with what to do
    throw Error{error.code(), "{}: its coordinator does not answer: {}; is it another machine's? Run this where `trireme train` runs", run,
                error.what()};
  }
}

std::vector<observe::Record> switches_of(const train::RunDirectory& run) {
  std::vector<observe::Record> out;
  observe::for_each_record(run.journal(), [&](const observe::Record& record) {
    if (record.type == "switch" || record.type == "end") out.push_back(record);
  });
  return out;
}

// What the run's journal says about it, when it has happened.
int follow(const train::RunDirectory& run, std::size_t before, double wait, const run::Console& console) {
  const SteadyClock clock;
  const Seconds end = clock.now() + Seconds(wait);
  while (clock.now() < end) {
    const std::vector<observe::Record> records = switches_of(run);
    if (records.size() > before && records.back().type == "end") {
      console.err << "the training ended before it came to that\n";
      return 1;
    }
    if (records.size() > before) {
      const observe::Record& record = records.back();
      console.out << fmt::format("after step {}: from {} to {}, in {:.2f} s\n", record.integer("step"), record.text("from"),
                                 record.text("to"), record.real("seconds"));
      return 0;
    }
    std::this_thread::sleep_for(kLook);
  }
  console.out << "asked for; it has not happened yet. See `trireme status`\n";
  return 0;
}

int run(const Options& o, const run::Console& console) {
  const auto directory = train::RunDirectory::open(o.run);
  const train::StrategyPart part = train::parse_team_strategy(o.to, "--to");
  const std::string to = train::text_of(part);
  if (const Config job = Config::load_toml(directory.config()); job.find("strategy") != nullptr)
    train::check_statistics(train::strategy_request(job.at("strategy")), part.name);
  const RunStatus status = status_of(directory);
  if (!status.is_running)
    throw Error{failed_precondition,
                "{}: this run is not going; `trireme train --resume {} --strategy NAME` continues it with another strategy", o.run, o.run};
  const auto takeover = run::read_takeover(run::takeover_file(directory.path()));
  if (!takeover)
    throw Error{failed_precondition,
                "{}: this run can't be talked to: it is one process, or was started by mpirun, srun or with --keep-nodes 0", o.run};
  if (to == status.strategy) {
    console.out << fmt::format("it trains with {} already\n", to);
    return 0;
  }
  const std::size_t before = switches_of(directory).size();
  reach(*takeover, o.run)
      .call(std::string(train::kSwitchMethod), train::pack(train::SwitchRequest{.to = o.to, .resets_slots = o.slots == "reset"}),
            kCallTimeout);
  return follow(directory, before, o.wait, console);
}

Run declare(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("run", options->run, "the run's directory, e.g. runs/latest").required().shown_as("RUN");
  arguments.option("--to", options->to, "e.g. allreduce, ps:async, ps:ssp:4, local_sgd:8, ps:async,servers=2,placement=dedicated")
      .required()
      .shown_as("STRATEGY");
  arguments.option("--slots", options->slots, "of the optimizer: carry or reset").one_of({"carry", "reset"}).shows_default();
  arguments.option("--wait", options->wait, "seconds to wait until it has happened").between(0.0, 86400.0).shows_default();
  return [options](const run::Console& console) { return run(*options, console); };
}

}  // namespace

CommandEntry switch_strategy() {
  return {.name = "switch", .summary = "change the strategy of a training while it is going", .declare = declare};
}

}  // namespace trireme::cli::commands
