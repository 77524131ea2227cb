// SPDX-License-Identifier: Apache-2.0
// Tests of servers and workers over the network, with certificates.
#include <gmock/gmock.h>

#include "trireme/base/host.h"
#include "trireme/ps/testing/cluster.h"
#include "trireme/rpc/authority.h"
#include "trireme/rpc/channel.h"
#include "trireme/rpc/server.h"

namespace trireme::ps {
namespace {

constexpr double kRate = 0.05;

rpc::Credentials credentials(const std::string& name) {
  return rpc::Authority::from_secret("a secret of a job in a file").issue({.role = "node", .name = name}, {"127.0.0.1"}, Seconds{3600});
}

// The cluster's servers, each behind a port.
class Network {
 public:
  explicit Network(Cluster& cluster) {
    for (const auto& host : cluster.hosts) {
      Server& server = host->server;
      ports_.push_back(std::make_unique<rpc::Server>(rpc::Server::Options{
          .addresses = {"127.0.0.1"},
          .credentials = credentials(fmt::format("s{}", ports_.size())),
          .bulk_streams = {
              {.name = "ps", .roles = {"node"}, .opened = [&server](const rpc::Peer& peer, std::shared_ptr<rpc::BulkSession> session) {
                 return server.open(peer.identity.name, std::move(session));
               }}}}));
    }
  }
  void connect(Worker& worker, std::uint64_t generation) {
    auto channels = std::make_shared<std::vector<rpc::Channel>>();
    const auto open = [&, channels](int server, rpc::BulkListener listener) {
      const std::string address = join_host_port("127.0.0.1", ports_[static_cast<std::size_t>(server)]->port());
      channels->push_back(
          rpc::Channel::connect(address, credentials(worker.name), Seconds{20}, {.role = "node", .name = fmt::format("s{}", server)}));
      return channels->back().open_bulk("ps", std::move(listener));
    };
    worker.client.connect(generation, open, nullptr);
    channels_.push_back(channels);
  }
  void end(std::size_t server) { ports_[server].reset(); }

 private:
  std::vector<std::unique_ptr<rpc::Server>> ports_;
  std::vector<std::shared_ptr<std::vector<rpc::Channel>>> channels_;
};

void begin(Cluster& cluster, Network& network, const Ledger::Options& work) {
  for (std::size_t server = 0; server < cluster.hosts.size(); ++server) {
    Server::Stretch stretch{.generation = 1, .workers = cluster.names(), .rules = cluster.rules};
    if (server == 0) stretch.work = work;
    cluster.hosts[server]->server.begin(std::move(stretch));
  }
  for (const auto& worker : cluster.workers) {
    worker->client.begin_stretch(0);
    network.connect(*worker, 1);
  }
}

class NetworkTest : public testing::TestWithParam<Rules> {};

TEST_P(NetworkTest, EverySampleIsUsedOnceOverTheNetworkToo) {
  Cluster cluster({.servers = 2, .workers = 3, .rules = GetParam()});
  Network network(cluster);
  begin(cluster, network, {.begin = 0, .end = 205, .batch_size = 20, .workers = 3, .in_step = GetParam().sums()});
  cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
  for (const auto& host : cluster.hosts) EXPECT_TRUE(host->server.await_retired(Seconds{20}));
  EXPECT_TRUE(cluster.hosts[0]->server.is_complete());
  const std::size_t done = cluster.hosts[0]->server.take_done().size();
  for (const auto& host : cluster.hosts) EXPECT_EQ(host->applied.size(), done);
  if (GetParam().sums()) expect_near(cluster.values(), plain_loop(cluster, kRate, 205, 20).parameters, 1e-6);
  for (const auto& worker : cluster.workers) {
    worker->client.fetch();
    EXPECT_EQ(worker->arrays.parameters, cluster.values());
    worker->client.disconnect();
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, NetworkTest,
                         testing::Values(Rules{.mode = Mode::bsp}, Rules{.mode = Mode::async}, Rules{.mode = Mode::ssp, .staleness = 2},
                                         Rules{.mode = Mode::dssp, .staleness_min = 1, .staleness_max = 3}));

// What an optimizer of whole slices makes: more than fits into a message.
TEST(Network, APieceLargerThanAMessageTravelsInParts) {
  for (const comm::WireType wire : {comm::WireType::f32, comm::WireType::bf16}) {
    ParameterSpace space;
    space.add("dense/kernel", {1500, 1000});
    space.add("dense/bias", {10});
    Cluster cluster({.servers = 1, .workers = 2, .rules = {.mode = Mode::bsp, .wire = wire}, .optimizer = "name = 'lars'", .space = space});
    ASSERT_EQ(cluster.map->pieces().front().size(), 1500 * 1000);
    Network network(cluster);
    begin(cluster, network, {.begin = 0, .end = 8, .batch_size = 4, .workers = 2, .in_step = true});
    cluster.run([](Worker& worker, std::size_t) { worker.work(kRate); });
    expect_near(cluster.values(), plain_loop(cluster, kRate, 8, 4).parameters, wire == comm::WireType::f32 ? 1e-6 : 0.01);
    for (const auto& worker : cluster.workers) {
      EXPECT_EQ(worker->arrays.parameters == cluster.values(), wire == comm::WireType::f32);
      worker->client.fetch();
      EXPECT_EQ(worker->arrays.parameters, cluster.values());
      worker->client.disconnect();
    }
  }
}

TEST(Network, AServerThatEndsIsReportedToWaitingWorkers) {
  Cluster cluster({.servers = 2, .workers = 2, .rules = {.mode = Mode::bsp}});
  Network network(cluster);
  begin(cluster, network, {.begin = 0, .end = 20, .batch_size = 20, .workers = 2, .in_step = true});
  Worker& worker = *cluster.workers[0];
  worker.step(*worker.client.next_lease(), kRate);
  network.end(1);
  EXPECT_THROW(worker.client.settle(), Error);
  EXPECT_EQ(worker.client.missed_server(), 1);
  for (const auto& each : cluster.workers) each->client.disconnect();
}

}  // namespace
}  // namespace trireme::ps
