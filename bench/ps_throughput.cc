// SPDX-License-Identifier: Apache-2.0
// Pushes and pulls of a whole model between processes of this machine: parameter servers, and bare streams that only echo, in turn.
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/config.h"
#include "trireme/base/error.h"
#include "trireme/base/files.h"
#include "trireme/base/host.h"
#include "trireme/optim/optimizer.h"
#include "trireme/ps/client.h"
#include "trireme/ps/server.h"
#include "trireme/rpc/authority.h"
#include "trireme/rpc/channel.h"
#include "trireme/rpc/server.h"

namespace {

using trireme::Error;
using trireme::ParameterSpace;
using trireme::Seconds;
using trireme::SteadyClock;
namespace optim = trireme::optim;
namespace ps = trireme::ps;
namespace rpc = trireme::rpc;

constexpr Seconds kTimeout{60};
constexpr std::size_t kMaxProcesses = 16;
constexpr std::int64_t kSliceBytes = 4 << 20;
constexpr std::int64_t kRow = 256;  // values
constexpr int kWarmUps = 2;
const SteadyClock kClock;

struct Settings {
  std::int64_t bytes = 100 << 20;
  std::size_t workers = 1;
  std::size_t servers = 1;
  int rounds = 5;
  double seconds = 1;  // of a block
  std::int64_t piece_bytes = ps::PartitionOptions{}.piece_bytes;
  bool tls = false;
  std::vector<std::string> variants{"bare", "ps"};
};

// What the processes share: made before they part.
struct Board {
  pthread_barrier_t all;
  pthread_barrier_t workers;
  std::array<int, kMaxProcesses> ports;
  std::array<pid_t, kMaxProcesses> processes;  // servers, then workers
  std::array<double, kMaxProcesses> pushes;    // of each worker in this block
  std::array<double, kMaxProcesses> push_each_second;
};

void make_barrier(pthread_barrier_t& barrier, std::size_t processes) {
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&barrier, &attributes, static_cast<unsigned>(processes));
}

Board& make_board(const Settings& settings) {
  void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& board = *new (memory) Board{};
  make_barrier(board.all, settings.workers + settings.servers);
  make_barrier(board.workers, settings.workers);
  return board;
}

// A model of slices of some megabytes.
ParameterSpace space_of(std::int64_t bytes) {
  ParameterSpace space;
  const std::int64_t slice_bytes = std::min(kSliceBytes, bytes / 4);
  for (std::int64_t rest = bytes; rest > 0; rest -= slice_bytes)
    space.add(fmt::format("slice{}", rest), {std::min(slice_bytes, rest) / (kRow * 4), kRow});
  return space;
}

std::shared_ptr<const ps::ShardMap> map_of(const Settings& settings, const ParameterSpace& space) {
  return std::make_shared<ps::ShardMap>(
      space, ps::PartitionOptions{.servers = static_cast<int>(settings.servers), .piece_bytes = settings.piece_bytes});
}

rpc::Credentials credentials(const std::string& name) {
  return rpc::Authority::from_secret("a secret of a benchmark").issue({.role = "node", .name = name}, {"127.0.0.1"}, Seconds{3600});
}

// Without TLS workers have no names: each has streams of its own.
std::string stream_of(std::size_t worker) { return fmt::format("push-{}", worker); }

// A server process: pieces of the model, and echoes.
class Host {
 public:
  Host(const Settings& settings, std::size_t number)
      : settings_(settings),
        space_(space_of(settings.bytes)),
        optimizer_(optim::Optimizer::from_config(trireme::Config::parse_toml("name = 'sgd'\nmomentum = 0.9", "bench"), space_)),
        parameters_(zeros(space_)),
        momentum_(zeros(space_)),
        echoed_(rpc::kMaxMessageBytes),
        server_({.space = space_,
                 .optimizer = optimizer_,
                 .map = map_of(settings, space_),
                 .number = static_cast<int>(number),
                 .parameters = span_of(parameters_),
                 .slots = {span_of(momentum_)},
                 .clock = kClock}),
        listening_(options(number)) {
    ps::Server::Stretch stretch{.generation = 1};
    for (std::size_t worker = 0; worker < settings.workers; ++worker) stretch.workers.push_back(stream_of(worker));
    if (number == 0)
      stretch.work = {.end = std::numeric_limits<std::int32_t>::max(),
                      .batch_size = static_cast<std::int64_t>(settings.workers),
                      .workers = static_cast<int>(settings.workers)};
    server_.begin(std::move(stretch));
  }

  int port() const { return listening_.port(); }

 private:
  // Memory that is there only where it is used: a server has its own pieces only.
  using Values = std::unique_ptr<float, void (*)(void*)>;
  static Values zeros(const ParameterSpace& space) {
    return {static_cast<float*>(std::calloc(static_cast<std::size_t>(space.size()), sizeof(float))), std::free};
  }
  std::span<float> span_of(const Values& values) const { return {values.get(), static_cast<std::size_t>(space_.size())}; }

  rpc::Server::Options options(std::size_t number) {
    rpc::Server::Options out{.addresses = {"127.0.0.1"}, .plain_loopback = !settings_.tls};
    if (settings_.tls) out.credentials = credentials(std::to_string(number));
    const auto add = [&](const std::string& name, auto opened) {
      out.bulk_streams.push_back({name, {"node"}, [opened](const rpc::Peer&, auto session) { return opened(std::move(session)); }});
    };
    add("echo", [this](const std::shared_ptr<rpc::BulkSession>& session) { return echo(session); });
    for (std::size_t worker = 0; worker < settings_.workers; ++worker)
      add(stream_of(worker),
          [this, worker](std::shared_ptr<rpc::BulkSession> session) { return server_.open(stream_of(worker), std::move(session)); });
    return out;
  }

  // Answers with as many bytes as came.
  rpc::BulkListener echo(const std::shared_ptr<rpc::BulkSession>& session) const {
    return {
        .received = [this, session](
                        const rpc::Incoming& message) { session->send({.head = {}, .body = std::span(echoed_).first(message.size())}); },
        .closed = [](const Error&) {}};
  }

  const Settings& settings_;
  const ParameterSpace space_;
  const optim::Optimizer optimizer_;
  const Values parameters_;
  const Values momentum_;
  const std::vector<std::byte> echoed_;
  ps::Server server_;
  rpc::Server listening_;  // ends before what it calls
};

// A worker's exchange with all servers: everything out, everything back.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void push() = 0;
};

std::vector<rpc::Channel> connect(const Settings& settings, const Board& board) {
  std::vector<rpc::Channel> channels;
  for (std::size_t server = 0; server < settings.servers; ++server) {
    const std::string address = trireme::join_host_port("127.0.0.1", board.ports[server]);
    if (settings.tls)
      channels.push_back(rpc::Channel::connect(address, credentials("worker"), kTimeout, {.role = "node", .name = std::to_string(server)}));
    else
      channels.push_back(rpc::Channel::connect_plain(address, kTimeout));
  }
  return channels;
}

// The same pieces, but what comes is not looked at.
class Bare final : public Exchange {
 public:
  Bare(const Settings& settings, std::vector<rpc::Channel>& channels)
      : space_(space_of(settings.bytes)), map_(map_of(settings, space_)), memory_(static_cast<std::size_t>(settings.bytes)) {
    for (rpc::Channel& channel : channels)
      sessions_.push_back(channel.open_bulk(
          "echo", {.received = [this](const rpc::Incoming& message) { came(message.size()); }, .closed = [](const Error&) {}}));
  }

  void push() override {
    for (const ps::Piece& piece : map_->pieces()) {
      const auto body = std::span(memory_).subspan(static_cast<std::size_t>(piece.begin) * 4, static_cast<std::size_t>(piece.size()) * 4);
      sessions_[static_cast<std::size_t>(piece.server)]->send({.head = {}, .body = body});
    }
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kTimeout, [this] { return got_ == memory_.size(); }))
      throw Error{trireme::deadline_exceeded, "only {} of {} bytes came back", got_, memory_.size()};
    got_ = 0;
  }

 private:
  void came(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    got_ += bytes;
    if (got_ == memory_.size()) changed_.notify_one();
  }

  const ParameterSpace space_;
  const std::shared_ptr<const ps::ShardMap> map_;
  const std::vector<std::byte> memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t got_ = 0;
  std::vector<std::shared_ptr<rpc::BulkSession>> sessions_;
};

class ParameterServers final : public Exchange {
 public:
  ParameterServers(const Settings& settings, std::vector<rpc::Channel>& channels, std::size_t worker)
      : space_(space_of(settings.bytes)),
        parameters_(static_cast<std::size_t>(space_.size())),
        gradients_(parameters_.size(), 1e-3F),
        client_({.space = space_,
                 .map = map_of(settings, space_),
                 .rules = {},
                 .parameters = parameters_,
                 .gradients = gradients_,
                 .timeout = kTimeout,
                 .clock = kClock}) {
    client_.begin_stretch(0);
    const auto open = [&](int server, rpc::BulkListener listener) {
      return channels[static_cast<std::size_t>(server)].open_bulk(stream_of(worker), std::move(listener));
    };
    client_.connect(1, open, nullptr);
    client_.fetch();
  }

  void push() override {
    const std::optional<ps::Lease> lease = client_.next_lease();
    if (!lease) throw Error{trireme::internal, "the samples are used up"};
    client_.begin(*lease, 1e-3, lease->size());
    for (std::size_t slice = space_.slices().size(); slice-- > 0;) client_.ready(slice);
    client_.report_step({.samples = lease->size()});
    client_.settle();
  }

 private:
  const ParameterSpace space_;
  std::vector<float> parameters_;
  const std::vector<float> gradients_;
  ps::Client client_;
};

// Of all processes.
double cpu_seconds(const Settings& settings, const Board& board) {
  double sum = 0;
  for (std::size_t i = 0; i < settings.servers + settings.workers; ++i) {
    clockid_t clock{};
    timespec now{};
    if (::clock_getcpuclockid(board.processes[i], &clock) != 0 || ::clock_gettime(clock, &now) != 0) continue;
    sum += static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }
  return sum;
}

// The best of all blocks.
struct Result {
  double pushes = 0;                                     // a second, of all workers
  double cpu = std::numeric_limits<double>::infinity();  // seconds for a push
};

// All workers push for a while.
void block(const Settings& settings, Board& board, std::size_t number, Exchange& exchange, Result& best) {
  for (int i = 0; i < kWarmUps; ++i) exchange.push();
  pthread_barrier_wait(&board.workers);
  const double cpu_start = cpu_seconds(settings, board);
  const Seconds start = kClock.now();
  double count = 0;
  for (; kClock.now() - start < Seconds{settings.seconds}; ++count) exchange.push();
  board.pushes[number] = count;
  board.push_each_second[number] = count / (kClock.now() - start).count();
  pthread_barrier_wait(&board.workers);
  const auto sum = [&](const auto& of) { return std::accumulate(of.begin(), of.begin() + settings.workers, 0.0); };
  best.cpu = std::min(best.cpu, (cpu_seconds(settings, board) - cpu_start) / sum(board.pushes));
  best.pushes = std::max(best.pushes, sum(board.push_each_second));
  pthread_barrier_wait(&board.workers);
}

void work(const Settings& settings, Board& board, std::size_t number) {
  pthread_barrier_wait(&board.all);
  std::vector<rpc::Channel> channels = connect(settings, board);
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (const std::string& variant : settings.variants) {
    if (variant == "bare") exchanges.push_back(std::make_unique<Bare>(settings, channels));
    if (variant == "ps") exchanges.push_back(std::make_unique<ParameterServers>(settings, channels, number));
  }
  std::vector<Result> best(exchanges.size());
  for (int round = 0; round < settings.rounds; ++round)
    for (std::size_t i = 0; i < exchanges.size(); ++i) block(settings, board, number, *exchanges[i], best[i]);
  for (std::size_t i = 0; number == 0 && i < exchanges.size(); ++i) {
    const double gigabytes = 2e-9 * static_cast<double>(settings.bytes) / static_cast<double>(settings.servers);
    fmt::print("{} pushes {:.2f} gbs {:.3f} cpu_ms {:.3f}\n", settings.variants[i], best[i].pushes, best[i].pushes * gigabytes,
               best[i].cpu * 1e3);
  }
  std::fflush(stdout);
  pthread_barrier_wait(&board.all);
  channels.clear();
}

void serve(const Settings& settings, Board& board, std::size_t number) {
  const Host host(settings, number);
  board.ports[number] = host.port();
  pthread_barrier_wait(&board.all);
  pthread_barrier_wait(&board.all);
  const std::string status = trireme::read_file("/proc/self/status");
  fmt::print("server {} resident_kb {}\n", number, std::stoll(status.substr(status.find("VmHWM:") + 6)));
  std::fflush(stdout);
}

// gRPC doesn't live through a fork, so it is not touched before.
int run(const Settings& settings) {
  Board& board = make_board(settings);
  const std::size_t count = settings.servers + settings.workers;
  const auto be = [&](std::size_t process) {
    try {
      board.processes[process] = ::getpid();
      if (process < settings.servers)
        serve(settings, board, process);
      else
        work(settings, board, process - settings.servers);
      return 0;
    } catch (const std::exception& fault) {
      fmt::print(stderr, "process {}: {}\n", process, fault.what());
      return 1;
    }
  };
  std::vector<pid_t> children;
  for (std::size_t process = 0; process < count; ++process) {
    children.push_back(::fork());
    if (children.back() == 0) std::_Exit(be(process));
  }
  bool failed = false;
  for (std::size_t i = 0; i < count && !failed; ++i) {
    int status = 0;
    ::wait(&status);
    failed = status != 0;
  }
  for (const pid_t child : children)
    if (failed) ::kill(child, SIGKILL);
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"pushes and pulls of a whole model: best block of all rounds; GB/s both ways added, for each server"};
  app.add_option("--bytes", settings.bytes, "of the model, f32")->check(CLI::Range(1 << 16, 1 << 30));
  app.add_option("--workers", settings.workers)->check(CLI::Range(1, 8));
  app.add_option("--servers", settings.servers)->check(CLI::Range(1, 8));
  app.add_option("--rounds", settings.rounds);
  app.add_option("--seconds", settings.seconds, "of a block");
  app.add_option("--piece-bytes", settings.piece_bytes);
  app.add_option("--variants", settings.variants, "of bare, ps");
  app.add_flag("--tls", settings.tls);
  CLI11_PARSE(app, argc, argv);
  return run(settings);
}
