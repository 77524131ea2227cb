// SPDX-License-Identifier: Apache-2.0
// Parameters on servers, work by lease: what a node of strategy `ps` does, be it server, worker or both.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/ps/client.h"
#include "trireme/ps/server.h"
#include "trireme/rpc/channel.h"
#include "trireme/rpc/server.h"
#include "trireme/train/job/parameter_server_options.h"
#include "trireme/train/job/strategy_entry.h"
#include "trireme/train/servers/lease_speeds.h"
#include "trireme/train/servers/server_roles.h"
#include "trireme/train/servers/work_tally.h"
#include "trireme/train/team/leased_work.h"
#include "trireme/train/team/strategy.h"

namespace trireme::train {

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
  std::vector<ps::WorkDone> unreported;  // by the last generation
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
  double rate_factor() const override;
  std::string_view duty() const override;

  int lead() const override { return roles_.lead(); }
  bool computes(int rank) const override { return roles_.worker_of(rank) >= 0; }
  int rank_of(const std::string& node) const override;
  std::int64_t lease_size() const override;
  double waited_for_work() const override { return waited_for_work_; }
  void begin(const Cursor& at, std::int64_t end) override;
  std::optional<data::Place> next() override;
  bool retire() override;
  bool is_over(Seconds wait) override;
  void stop() override;
  std::vector<ps::WorkDone> done() override;
  std::optional<StragglerRecord> straggler() override { return std::exchange(straggler_, std::nullopt); }
  std::optional<ServerRecord> server_record() override;
  std::int64_t take_unused() override { return std::exchange(unused_, 0); }
  bool is_under_way() const override { return held_->is_under_way; }
  void interrupt() override;

 private:
  bool is_sendable(Replica& replica, std::size_t slice) const;
  engine::Outcome compute(const StepInput& input, const ps::Lease& lease, double rate, Replica& replica);
  void push(const StepInput& input, const ps::Lease& lease, double rate, bool is_sound, StepResult& result);
  bool undo_statistics(const std::vector<float>& before);
  void forget();
  void make_holdings();
  void make_client();
  void listen();
  void resume_stretch();
  void settle_lost_leases();
  void connect();
  std::shared_ptr<rpc::BulkSession> open_stream(int server, rpc::BulkListener listener);
  std::vector<std::string> worker_names() const;
  std::string own_name() const {
    const std::vector<std::string>& nodes = setup_.team.neighbours().nodes;
    const auto rank = static_cast<std::size_t>(setup_.team.rank());
    return rank < nodes.size() ? nodes[rank] : "";
  }
  std::vector<std::int64_t> gathered(const std::vector<std::int64_t>& own);
  std::vector<ps::WorkDone> collect_done();
  void complete_rounds();
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
  std::atomic<double> waited_for_work_ = 0;  // only one thread at a time adds to it
  std::optional<ps::Lease> ahead_;           // to be handed out next
  LeaseSpeeds speeds_{1};                    // of the workers of this generation
  std::optional<StragglerRecord> straggler_;
  std::int64_t last_samples_ = 0;  // of the last step, if it was not skipped by this worker
  std::int64_t unused_ = 0;
  bool is_sound_ = true;              // what the step that runs has computed so far
  std::vector<float> states_;         // statistics before this step ...
  std::vector<float> states_before_;  // ... and before the last one
};

}  // namespace trireme::train
