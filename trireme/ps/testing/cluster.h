// SPDX-License-Identifier: Apache-2.0
// For tests: servers and workers of a small parameter space in one process.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "trireme/base/config.h"
#include "trireme/ps/client.h"
#include "trireme/ps/server.h"
#include "trireme/rpc/bulk_pair.h"

namespace trireme::ps {

inline const SteadyClock kClock;

inline ParameterSpace small_space() {
  ParameterSpace space;
  space.add("conv/kernel", {16, 3, 3, 3});
  space.add("conv/bias", {16});
  space.add("dense/kernel", {64, 300});
  space.add("dense/bias", {64});
  space.add("out/kernel", {10, 64});
  space.add("out/bias", {10});
  return space;
}

// A sample's gradient: depends on the values it is computed with.
inline float gradient_of(float value, std::int64_t sample, std::size_t index) {
  std::uint64_t bits = static_cast<std::uint64_t>(sample + 1) * 0x9e3779b97f4a7c15U + index * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 29U)) * 0x94d049bb133111ebU;
  return 0.1F * value + static_cast<float>(bits >> 40U) * 0x1p-24F - 0.5F;
}

// The mean over samples.
inline void gradients_of(std::span<const float> values, std::int64_t begin, std::int64_t end, std::span<float> gradients) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    double sum = 0;
    for (std::int64_t sample = begin; sample < end; ++sample) sum += gradient_of(values[i], sample, i);
    gradients[i] = static_cast<float>(sum / static_cast<double>(end - begin));
  }
}

struct Arrays {
  std::vector<float> parameters;
  std::vector<std::vector<float>> slots;

  std::vector<std::span<float>> slot_spans() { return {slots.begin(), slots.end()}; }
};

class Host {
 public:
  Host(const ParameterSpace& space, const optim::Optimizer& optimizer, std::shared_ptr<const ShardMap> map, int number, Arrays start)
      : arrays(std::move(start)),
        server({.space = space,
                .optimizer = optimizer,
                .map = std::move(map),
                .number = number,
                .parameters = arrays.parameters,
                .slots = arrays.slot_spans(),
                .clock = kClock,
                .applied = [this](const Applied& push) {
                  const std::lock_guard lock(mutex);
                  if (push.is_whole)
                    applied.push_back(fmt::format("{} {} {}", push.worker, push.id & 0xffffffffU, push.taken ? "taken" : "dropped"));
                  pushes.push_back(push);
                }}) {}

  std::mutex mutex;
  std::vector<std::string> applied;
  std::vector<Applied> pushes;
  Arrays arrays;
  Server server;
};

class Worker {
 public:
  Worker(std::string called, const ParameterSpace& space, std::shared_ptr<const ShardMap> map, const Rules& rules, Arrays start)
      : name(std::move(called)),
        arrays(std::move(start)),
        gradients(arrays.parameters.size()),
        client({.space = space,
                .map = std::move(map),
                .rules = rules,
                .parameters = arrays.parameters,
                .gradients = gradients,
                .timeout = Seconds{20},
                .clock = kClock,
                .acknowledged = [this](std::uint64_t id) { acknowledged.push_back(id); }}),
        slices_(space.slices().size()) {}

  void need_all() {
    for (std::size_t slice = 0; slice < slices_; ++slice) client.needed(slice);
  }
  void push(const Lease& lease, double rate) {
    client.begin(lease, rate, lease.size());
    for (std::size_t slice = slices_; slice-- > 0;) client.ready(slice);
    client.report_step({.samples = lease.size()});
  }
  // All the work there is for it.
  void work(double rate, const std::function<void()>& before_push = {}) {
    for (;;) {
      std::optional<Lease> lease = client.next_lease();
      if (!lease) {
        client.settle();
        lease = client.next_lease();  // one that came back
      }
      if (!lease) break;
      step(*lease, rate, before_push);
    }
    client.retire();
  }
  void step(const Lease& lease, double rate, const std::function<void()>& before_push = {}) {
    need_all();
    gradients_of(arrays.parameters, lease.begin, lease.end, gradients);
    if (before_push) before_push();
    push(lease, rate);
  }

  const std::string name;
  Arrays arrays;
  std::vector<float> gradients;
  std::vector<std::uint64_t> acknowledged;
  Client client;

 private:
  std::size_t slices_;
};

// Servers and workers, with streams inside the process.
class Cluster {
 public:
  struct Options {
    int servers = 2;
    int workers = 2;
    Rules rules;
    std::string optimizer = "name = 'sgd'\nmomentum = 0.9";
    ParameterSpace space = small_space();
  };
  explicit Cluster(const Options& options)
      : rules(options.rules),
        space(options.space),
        optimizer(optim::Optimizer::from_config(Config::parse_toml(options.optimizer, "test"), space)),
        map(std::make_shared<ShardMap>(space, PartitionOptions{.servers = options.servers,
                                                               .min_shard_bytes = 4096,
                                                               .piece_bytes = 4096,
                                                               .whole_slices = optimizer.entry().slice_rate != nullptr})) {
    for (int server = 0; server < options.servers; ++server)
      hosts.push_back(std::make_unique<Host>(space, optimizer, map, server, start()));
    for (int worker = 0; worker < options.workers; ++worker) add_worker();
  }
  ~Cluster() { workers.clear(); }

  Arrays start() const {
    Arrays arrays{.parameters = std::vector<float>(static_cast<std::size_t>(space.size())), .slots = {}};
    for (std::size_t i = 0; i < arrays.parameters.size(); ++i) arrays.parameters[i] = gradient_of(0, 1000, i);
    arrays.slots.assign(optimizer.slots().size(), std::vector<float>(arrays.parameters.size()));
    return arrays;
  }

  Worker& add_worker() { return add_worker(fmt::format("w{}", workers.size())); }
  Worker& add_worker(const std::string& name) {
    workers.push_back(std::make_unique<Worker>(name, space, map, rules, start()));
    return *workers.back();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& worker : workers) all.push_back(worker->name);
    return all;
  }

  // All servers begin a stretch of this work, and all workers connect.
  void begin(const Ledger::Options& work, std::int64_t updates = 0) {
    for (std::size_t server = 0; server < hosts.size(); ++server) {
      Server::Stretch stretch{.generation = generation, .workers = names(), .rules = rules, .updates = updates};
      if (server == 0) stretch.work = work;
      hosts[server]->server.begin(std::move(stretch));
    }
    for (const auto& worker : workers) {
      worker->client.begin_stretch(updates);
      connect(*worker);
    }
  }
  // The streams break when the worker says something of this kind, and no server receives it.
  Client::Open opener(const Worker& worker, std::optional<Kind> unreported = std::nullopt) {
    return [this, name = worker.name, unreported](int server, rpc::BulkListener listener) {
      return rpc::bulk_pair(std::move(listener), [&](std::shared_ptr<rpc::BulkSession> session) {
        sessions.push_back(session);
        rpc::BulkListener own = hosts[static_cast<std::size_t>(server)]->server.open(name, std::move(session));
        own.received = [received = own.received, unreported](const rpc::Incoming& message) {
          if (unreported == frame_of(message).kind) throw Error{unavailable, "the cable is cut"};
          received(message);
        };
        return own;
      });
    };
  }
  void connect(Worker& worker) { worker.client.connect(generation, opener(worker), nullptr); }
  // The stretch goes on with these.
  void regroup(const std::vector<std::string>& names, const std::vector<std::int64_t>& kept) {
    ++generation;
    for (const auto& host : hosts) host->server.regroup(generation, names, {}, kept);
    const std::vector<LostLease> lost = hosts[0]->server.lost();
    std::vector<double> had(lost.size() * map->pieces().size());
    for (const auto& host : hosts) {
      const std::vector<double> here = host->server.has(lost);
      for (std::size_t i = 0; i < had.size(); ++i) had[i] += here[i];
    }
    hosts[0]->server.settle(lost, had);
  }

  // Every worker does its work on a thread of its own.
  void run(const std::function<void(Worker&, std::size_t)>& body) {
    std::vector<std::jthread> threads;
    for (std::size_t worker = 0; worker < workers.size(); ++worker)
      threads.emplace_back([&, worker] {
        try {
          body(*workers[worker], worker);
        } catch (const Error& error) {
          ADD_FAILURE() << workers[worker]->name << ": " << name_of(error.code()) << ": " << error.what();
        }
      });
  }

  // Put together from the servers.
  std::vector<float> values() {
    std::vector<float> all(static_cast<std::size_t>(space.size()));
    for (const Piece& piece : map->pieces())
      std::copy_n(hosts[static_cast<std::size_t>(piece.server)]->arrays.parameters.begin() + piece.begin, piece.size(),
                  all.begin() + piece.begin);
    return all;
  }
  void update(Arrays& arrays, std::span<const float> gradients, double rate, std::int64_t step) const {
    optim::UpdateSpan span{.parameters = arrays.parameters, .gradients = gradients, .learning_rate = rate, .step = step};
    const auto slots = arrays.slot_spans();
    for (std::size_t slot = 0; slot < slots.size(); ++slot) span.slots[slot] = slots[slot];
    optimizer.update(0, span);
  }

  Rules rules;
  std::uint64_t generation = 1;
  ParameterSpace space;
  optim::Optimizer optimizer;
  std::shared_ptr<const ShardMap> map;
  std::vector<std::shared_ptr<rpc::BulkSession>> sessions;  // the servers' ends, in the order they were opened
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<std::unique_ptr<Worker>> workers;
};

// What one process does.
inline Arrays plain_loop(const Cluster& cluster, double rate, std::int64_t samples, std::int64_t batch_size) {
  Arrays arrays = cluster.start();
  std::vector<float> gradients(arrays.parameters.size());
  std::int64_t step = 0;
  for (std::int64_t begin = 0; begin < samples; begin += batch_size) {
    gradients_of(arrays.parameters, begin, std::min(samples, begin + batch_size), gradients);
    cluster.update(arrays, gradients, rate, ++step);
  }
  return arrays;
}

inline void expect_near(const std::vector<float>& found, const std::vector<float>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, static_cast<double>(std::abs(found[i] - expected[i])));
  EXPECT_LE(worst, tolerance);
}

}  // namespace trireme::ps
