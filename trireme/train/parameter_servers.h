// SPDX-License-Identifier: Apache-2.0
// Parameters on servers, work by lease: what a node of strategy `ps` does, be it server, worker or both.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/ps/client.h"
#include "trireme/ps/server.h"
#include "trireme/rpc/channel.h"
#include "trireme/rpc/server.h"
#include "trireme/train/lease_speeds.h"
#include "trireme/train/leased_work.h"
#include "trireme/train/server_roles.h"
#include "trireme/train/strategy_entry.h"
#include "trireme/train/work_tally.h"

namespace trireme::train {

struct ParameterServerOptions {
  std::int64_t servers = 1;
  std::string placement = "dedicated";
  std::string mode = "async";
  std::int64_t staleness = 3;
  std::int64_t staleness_min = 3;
  std::int64_t staleness_max = 15;
  std::int64_t backup_workers = 0;
  std::int64_t min_shard_bytes = 256 << 10;
  std::int64_t max_shards = 0;
  bool divide_learning_rate = true;
  bool damp_staleness = false;
  std::string wire = "f32";
};
ps::Rules rules_of(const ParameterServerOptions& options);
ServerWish wish_of(const ParameterServerOptions& options);
// Most samples that a worker gets at once.
std::int64_t lease_size(const ParameterServerOptions& options, std::int64_t batch_size, std::size_t workers);

// What a node keeps while the team around it changes.
struct ServerHoldings {
  Holding holding;
  std::shared_ptr<const ps::ShardMap> map;
  std::unique_ptr<float[]> parameters;  // of the server: pages of pieces that it does not have are never touched
  std::optional<ps::Server> server;
  std::optional<ps::Client> client;
  std::uint64_t seen = 0;     // the last generation that this node was in
  bool is_under_way = false;  // a stretch: what servers hold is further than any replica
  // At the lead.
  WorkTally tally;
  std::vector<ps::WorkDone> untold;  // by the last generation
};

class ParameterServers final : public Strategy, public LeasedWork {
 public:
  ParameterServers(const StrategyEntry::Setup& setup, const ParameterServerOptions& options);
  ~ParameterServers() override;

  StepResult run(const StepInput& input, Replica& replica) override;
  void drain(Replica& replica) override;
  void settle(Replica& replica) override;
  bool resumes() const override { return roles_.resumes; }
  void entered(const Cursor& cursor) override;
  LeasedWork* leased() override { return this; }
  int missed_peer() const override;

  int lead() const override { return roles_.lead(); }
  bool computes(int rank) const override { return roles_.worker_of(rank) >= 0; }
  int rank_of(const std::string& node) const override;
  std::int64_t lease_size() const override;
  void begin(const Cursor& at) override;
  std::optional<data::Place> next() override;
  bool retire() override;
  bool is_over(Seconds wait) override;
  void stop() override;
  std::vector<ps::WorkDone> done() override;
  std::optional<StragglerRecord> straggler() override { return std::exchange(straggler_, std::nullopt); }
  std::optional<ServerRecord> server_record() override;
  void interrupt() override;

 private:
  void forget();
  void make_anew();
  void make_client();
  void listen();
  void go_on_with_the_stretch();
  void connect();
  std::shared_ptr<rpc::BulkSession> open_stream(int server, rpc::BulkListener listener);
  std::vector<std::string> worker_names() const;
  std::vector<std::int64_t> gathered(const std::vector<std::int64_t>& own);
  std::vector<ps::WorkDone> taken();
  void round_off();
  void note_use(const ps::WorkDone& done) const;
  int parts_of_an_update() const;
  int server_number() const { return roles_.server_of(setup_.team.rank()); }

  StrategyEntry::Setup setup_;
  ParameterServerOptions options_;
  ps::Rules rules_;
  std::shared_ptr<ServerHoldings> held_;
  ServerRoles roles_;
  std::optional<rpc::Server> listener_;
  std::vector<rpc::Channel> channels_;
  std::int64_t epoch_ = 0;
  bool is_connected_ = false;
  bool retired_ = false;
  bool is_over_ = false;
  std::mutex mutex_;
  std::deque<ps::Lease> leases_;    // whose batches are being made
  std::optional<ps::Lease> ahead_;  // to be handed out next
  LeaseSpeeds speeds_;
  std::optional<StragglerRecord> straggler_;
};

}  // namespace trireme::train
