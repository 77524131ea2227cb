// SPDX-License-Identifier: Apache-2.0
// Roles, streams, leases: the life of a node among parameter servers.
#include "trireme/train/servers/parameter_servers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/failpoint.h"

namespace trireme::train {
namespace {

constexpr double kTooMuchWaiting = 0.25;  // of the workers' time, for servers

std::shared_ptr<ServerHoldings> taken_from(std::any& kept) {
  if (auto* held = std::any_cast<std::shared_ptr<ServerHoldings>>(&kept)) return *held;
  auto fresh = std::make_shared<ServerHoldings>();
  kept = fresh;
  return fresh;
}

}  // namespace

ParameterServers::ParameterServers(const StrategyEntry::Setup& setup, const ParameterServerOptions& options)
    : setup_(setup), options_(options), rules_(rules_of(options)), held_(taken_from(setup.kept)) {
  Holding own = held_->is_under_way ? held_->holding : Holding{};
  own.seen = std::exchange(held_->seen, setup.team.generation());
  const std::vector<Holding> holdings = gather_holdings(setup.team, own);
  roles_ = choose_roles(placement_of(options), holdings);
  speeds_ = LeaseSpeeds(roles_.workers.size());
  if (own.seen < newest_seen(holdings)) forget();
}

// Others went on while this node slept. It must not serve what it has, nor push again what another node has done since.
void ParameterServers::forget() {
  held_ = std::make_shared<ServerHoldings>();
  held_->seen = setup_.team.generation();
  setup_.kept = held_;
}

ParameterServers::~ParameterServers() {
  interrupt();
  listener_.reset();  // its streams end before the server that they lead to
}

void ParameterServers::interrupt() {
  try {
    if (held_->client) held_->client->disconnect();
  } catch (const Error&) {  // it waited long enough; closing the channels ends the streams
  }
  channels_.clear();
}

int ParameterServers::missed_peer() const {
  const int server = held_->client ? held_->client->missed_server() : -1;
  return server < 0 ? -1 : roles_.servers[static_cast<std::size_t>(server)];
}

std::int64_t ParameterServers::lease_size() const { return train::lease_size(options_, setup_.batch_size, roles_.workers.size()); }

std::string_view ParameterServers::duty() const {
  if (server_number() < 0) return "worker";
  return computes(setup_.team.rank()) ? "worker and server" : "server";
}

double ParameterServers::rate_factor() const {
  const bool divides = options_.divide_learning_rate && !rules_.sums();
  return divides ? 1 / static_cast<double>(roles_.workers.size()) : 1.0;
}

std::vector<std::string> ParameterServers::worker_names() const {
  std::vector<std::string> names;
  for (const int rank : roles_.workers) names.push_back(setup_.team.neighbours().nodes[static_cast<std::size_t>(rank)]);
  return names;
}

void ParameterServers::entered(const Cursor& cursor) {
  epoch_ = cursor.epoch;
  if (!roles_.resumes) roles_.lineage = setup_.team.generation();
  if (held_->holding.lineage != roles_.lineage) make_holdings();
  if (!held_->client) make_client();
  listen();
  if (!roles_.resumes) return;  // the servers learn who is who when the first stretch begins
  resume_stretch();
  connect();
  if (!held_->client->unfinished()) held_->client->fetch();
}

void ParameterServers::make_holdings() {
  forget();
  const auto servers = static_cast<int>(roles_.servers.size());
  held_->holding = {.lineage = roles_.lineage, .server = server_number(), .servers = servers};
  held_->map = std::make_shared<const ps::ShardMap>(
      setup_.space, ps::PartitionOptions{.servers = servers,
                                         .min_shard_bytes = options_.min_shard_bytes,
                                         .max_shards = options_.max_shards,
                                         .whole_slices = setup_.replica.optimizer().entry().slice_rate != nullptr});
  if (server_number() < 0) return;
  const auto size = static_cast<std::size_t>(setup_.space.size());
  held_->parameters = std::make_unique_for_overwrite<float[]>(size);
  for (const std::size_t index : held_->map->pieces_of(server_number())) {
    const ps::Piece& piece = held_->map->pieces()[index];
    std::copy_n(setup_.replica.parameters().begin() + piece.begin, piece.size(), held_->parameters.get() + piece.begin);
  }
  held_->server.emplace(ps::Server::Setup{.space = setup_.space,
                                          .optimizer = setup_.replica.optimizer(),
                                          .map = held_->map,
                                          .number = server_number(),
                                          .parameters = {held_->parameters.get(), size},
                                          .slots = {setup_.replica.slots().begin(), setup_.replica.slots().end()},
                                          .clock = setup_.clock,
                                          .applied = setup_.events.applied,
                                          .spans = setup_.spans});
}

void ParameterServers::make_client() {
  held_->client.emplace(ps::Client::Setup{.space = setup_.space,
                                          .map = held_->map,
                                          .rules = rules_,
                                          .parameters = setup_.replica.parameters(),
                                          .gradients = setup_.replica.gradients(),
                                          .timeout = setup_.team.timeout(),
                                          .clock = setup_.clock,
                                          .acknowledged = setup_.events.acknowledged,
                                          .name = own_name(),
                                          .spans = setup_.spans});
}

// Workers came or went in the middle of a stretch. What a worker has pushed and does not know to have arrived it pushes again; in bsp the
// round begins again with the workers that are here.
void ParameterServers::resume_stretch() {
  ps::Client& client = *held_->client;
  if (rules_.sums()) client.forget();
  const std::vector<std::int64_t> kept = gathered(client.kept());
  if (held_->server) held_->server->regroup(setup_.team.generation(), worker_names(), setup_.team.neighbours().nodes, kept);
  settle_lost_leases();
  if (lead() == setup_.team.rank()) complete_rounds();
  held_->is_under_way = true;
  retired_ = false;
}

// What became of leases that no node of this team continues: the pieces know. All nodes together.
void ParameterServers::settle_lost_leases() {
  std::vector<ps::LostLease> leases;
  if (lead() == setup_.team.rank()) leases = held_->server->lost();
  auto count = static_cast<std::uint64_t>(leases.size());
  setup_.team.broadcast(std::span(&count, 1), lead());
  leases.resize(count);
  std::vector<double> had(count * held_->map->pieces().size());
  if (count > 0) {
    setup_.team.broadcast(std::span(leases), lead());
    if (held_->server) had = held_->server->has(leases);
    setup_.team.sum(had);
  }
  if (lead() == setup_.team.rank()) held_->server->settle(leases, had);
}

// Lists of ids of all nodes as one.
std::vector<std::int64_t> ParameterServers::gathered(const std::vector<std::int64_t>& own) {
  const std::vector<double> counts = setup_.team.gather(static_cast<double>(own.size()));
  const auto most = static_cast<std::size_t>(*std::ranges::max_element(counts));
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < most; ++i)
    for (const double id : setup_.team.gather(i < own.size() ? static_cast<double>(own[i]) : 0.0))
      if (id > 0) all.push_back(std::llround(id));
  return all;
}

void ParameterServers::begin(const Cursor& at, std::int64_t end) {
  epoch_ = at.epoch;
  retired_ = is_over_ = false;
  if (held_->server) {
    ps::Server::Stretch stretch{.generation = setup_.team.generation(),
                                .workers = worker_names(),
                                .readers = setup_.team.neighbours().nodes,
                                .rules = rules_,
                                .updates = at.step - at.slots_from};
    if (lead() == setup_.team.rank())
      stretch.work = {.begin = at.epoch_offset,
                      .end = end,
                      .batch_size = setup_.batch_size,
                      .workers = static_cast<int>(roles_.workers.size()),
                      .in_step = rules_.sums() && rules_.backup_workers == 0,
                      .parts = rules_.backup_workers > 0 ? parts_of_an_update() : 0};
    held_->server->begin(std::move(stretch));
  }
  held_->client->begin_stretch(at.step - at.slots_from);
  held_->is_under_way = true;
  if (!is_connected_)
    connect();
  else
    setup_.team.barrier();  // no worker pushes before every server has begun
  failpoint("ps.stretch_begun");
}

int ParameterServers::parts_of_an_update() const { return static_cast<int>(parts_of_a_batch(options_, roles_.workers.size())); }

std::optional<data::Place> ParameterServers::next() {
  const Seconds asked = setup_.clock.now();
  const std::optional<ps::Lease> lease = ahead_ ? std::exchange(ahead_, std::nullopt) : held_->client->next_lease();
  waited_for_work_ = waited_for_work_ + (setup_.clock.now() - asked).count();
  if (!lease) return std::nullopt;
  return data::Place{.epoch = epoch_,
                     .begin = lease->begin,
                     .end = lease->end,
                     .lease = {.id = lease->id, .round = lease->round, .batch = lease->batch, .half = lease->half, .root = lease->root}};
}

bool ParameterServers::retire() {
  held_->client->settle();
  undo_statistics(states_);
  // A push that came too late was dropped, and its samples are handed out again.
  if (rules_.backup_workers > 0) ahead_ = held_->client->next_lease();
  if (ahead_) return false;
  held_->client->retire();
  return retired_ = true;
}

bool ParameterServers::is_over(Seconds wait) {
  if (setup_.team.neighbours().cancellation) setup_.team.neighbours().cancellation->check();
  if (computes(setup_.team.rank()) && !retired_) return false;
  is_over_ = !held_->server || held_->server->await_retired(wait);
  return is_over_;
}

void ParameterServers::stop() {
  if (lead() == setup_.team.rank()) held_->server->stop();
}

// No other node will report the rounds that the last generation began.
void ParameterServers::complete_rounds() {
  std::ranges::move(collect_done(), std::back_inserter(held_->unreported));  // a generation may end before it reports anything
  if (rules_.backup_workers == 0) std::ranges::move(held_->tally.take_rest(), std::back_inserter(held_->unreported));
}

std::vector<ps::WorkDone> ParameterServers::done() {
  if (lead() != setup_.team.rank()) return {};
  std::vector<ps::WorkDone> out = std::exchange(held_->unreported, {});
  std::ranges::move(collect_done(), std::back_inserter(out));
  if (is_over_) std::ranges::move(held_->tally.take_rest(), std::back_inserter(out));
  for (const ps::WorkDone& done : out)
    if (done.lease.round >= 0) note_use(done);
  return out;
}

std::vector<ps::WorkDone> ParameterServers::collect_done() {
  const std::vector<ps::WorkDone> reports = held_->server->take_done();
  for (const ps::WorkDone& part : reports) {
    if (part.lease.round < 0) note_use(part);  // in step: when all parts of the batch are there
    const int rank = rank_of(part.worker);
    if (rank < 0) continue;  // it is gone
    if (const auto slow = speeds_.count(rank, part.samples, part.compute_seconds)) straggler_ = slow;
  }
  return held_->tally.add(reports, {.are_made = rules_.sums(), .parts = parts_of_an_update()});
}

void ParameterServers::note_use(const ps::WorkDone& done) const {
  if (setup_.events.used) setup_.events.used(done, epoch_);
}

int ParameterServers::rank_of(const std::string& node) const {
  const std::vector<std::string>& nodes = setup_.team.neighbours().nodes;
  const auto found = std::ranges::find(nodes, node);
  return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

void ParameterServers::settle(Replica&) { held_->client->fetch(); }

void ParameterServers::drain(Replica& replica) {
  ps::Client& client = *held_->client;
  client.fetch();
  // Those of this node's own server are the replica's already.
  client.fetch_slots({replica.slots().begin(), replica.slots().end()}, server_number());
  setup_.team.barrier();  // no node changes anything while another still reads
  held_->is_under_way = false;
}

std::optional<ServerRecord> ParameterServers::server_record() {
  if (!held_->server) return std::nullopt;
  const ps::ServerLoad load = held_->server->take_load();
  ServerRecord record{.server = server_number(),
                      .servers = static_cast<int>(roles_.servers.size()),
                      .workers = static_cast<int>(roles_.workers.size()),
                      .epoch = epoch_,
                      .parameter_bytes = held_->map->bytes(server_number()),
                      .imbalance = held_->map->imbalance(),
                      .seconds = load.seconds,
                      .busy_seconds = load.busy_seconds,
                      .held_seconds = load.held_seconds,
                      .pushes = load.pushes,
                      .dropped = load.dropped,
                      .bytes_in = load.bytes_in,
                      .bytes_out = load.bytes_out,
                      .staleness = {load.staleness.begin(), load.staleness.end()},
                      .most_ahead = load.most_ahead};
  if (lead() != setup_.team.rank()) return record;
  // Of the time that workers wait, some is for slower workers, and no server can help that.
  const WorkTally::Time time = held_->tally.take_time();
  const double wait = std::max(0.0, time.wait - load.held_seconds);
  const double compute = time.compute;
  record.wait_share = wait / std::max(wait + compute, 1e-9);
  if (record.wait_share > kTooMuchWaiting)
    record.servers_needed = static_cast<int>(std::ceil(record.servers * (wait + compute) / std::max(compute, 1e-9)));
  return record;
}

}  // namespace trireme::train
