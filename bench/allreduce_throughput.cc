// SPDX-License-Identifier: Apache-2.0
// Time of an all-reduce between processes of this machine: ours and plain Gloo, block by block in turn.
#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trireme/comm/communicator.h"
#include "trireme/comm/folder_store.h"
#include "trireme/comm/mpi_library.h"

namespace {

using trireme::Seconds;
using trireme::SteadyClock;
using trireme::comm::Algorithm;
using trireme::comm::Communicator;
using trireme::comm::Encryption;
using trireme::comm::FolderStore;
using trireme::comm::MpiLibrary;
using trireme::comm::WireType;

constexpr Seconds kTimeout{60};

struct Settings {
  int processes = 2;
  int rounds = 5;
  std::vector<std::size_t> bytes{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 100 << 20};
  std::vector<std::string> variants;  // empty: all
  std::string address = "127.0.0.1";
  std::filesystem::path folder;  // where processes find each other
  int rank = -1;                 // of the one process to run here; -1: all of them
  bool encrypt = false;          // two variants more: as between machines
  std::filesystem::path mpi;     // libtrireme_mpi.so, for a variant more; the processes must be mpirun's
};

std::shared_ptr<gloo::Context> plain_gloo(const Settings& settings, int rank) {
  auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(settings.address.c_str()));
  std::filesystem::create_directories(settings.folder / "gloo");
  gloo::rendezvous::FileStore store((settings.folder / "gloo").string());
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, settings.processes);
  context->setTimeout(std::chrono::minutes(1));
  context->connectFullMesh(store, device);
  return context;
}

// As Gloo's documentation shows it: default algorithm, Gloo's own sum.
void plain_all_reduce(const std::shared_ptr<gloo::Context>& context, std::span<float> values) {
  gloo::AllreduceOptions options(context);
  options.setOutput(values.data(), values.size());
  options.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
  gloo::allreduce(options);
}

struct Variant {
  const char* name;
  std::function<void(std::span<float>)> all_reduce;
};

std::vector<Variant> variants(Communicator& ours, const std::shared_ptr<gloo::Context>& plain) {
  const auto with = [&ours](Algorithm algorithm, WireType wire) {
    return [&ours, algorithm, wire](std::span<float> values) { ours.all_reduce(values, {algorithm, wire}, kTimeout); };
  };
  return {{"gloo", [plain](std::span<float> values) { plain_all_reduce(plain, values); }},
          {"f32", with(Algorithm::automatic, WireType::f32)},
          {"bf16", with(Algorithm::automatic, WireType::bf16)},
          {"f16", with(Algorithm::automatic, WireType::f16)},
          {"ring", with(Algorithm::ring, WireType::f32)},
          {"halving_doubling", with(Algorithm::halving_doubling, WireType::f32)}};
}

// Of one call, in a block that all begin together: by the clock, and of this process's CPU time in all its threads.
struct Cost {
  double seconds = std::numeric_limits<double>::infinity();
  double cpu_seconds = std::numeric_limits<double>::infinity();

  void keep_best(const Cost& other) {
    seconds = std::min(seconds, other.seconds);
    cpu_seconds = std::min(cpu_seconds, other.cpu_seconds);
  }
};

double cpu_now() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Cost block(Communicator& ours, const Variant& variant, std::span<float> values, int calls) {
  std::ranges::fill(values, 1.0F / 1024);
  variant.all_reduce(values);
  ours.barrier(kTimeout);
  const auto start = SteadyClock{}.now();
  const double cpu_start = cpu_now();
  for (int i = 0; i < calls; ++i) variant.all_reduce(values);
  return {(SteadyClock{}.now() - start).count() / calls, (cpu_now() - cpu_start) / calls};
}

void measure(const Settings& settings, int rank) {
  FolderStore store(settings.folder);
  auto ours = Communicator::connect(store,
                                    {.rank = rank,
                                     .size = settings.processes,
                                     .generation = 1,
                                     .address = settings.address,
                                     .key = "bench",
                                     .encryption = Encryption::never},
                                    kTimeout);
  auto all = variants(ours, plain_gloo(settings, rank));
  std::optional<Communicator> encrypting;
  if (settings.encrypt) {
    encrypting.emplace(Communicator::connect(store,
                                             {.rank = rank,
                                              .size = settings.processes,
                                              .generation = 1,
                                              .address = settings.address,
                                              .channel = "encrypted",
                                              .key = "bench",
                                              .encryption = Encryption::always},
                                             kTimeout));
    for (const WireType wire : {WireType::f32, WireType::bf16})
      all.push_back({wire == WireType::f32 ? "encrypted" : "encrypted_bf16",
                     [&encrypting, wire](std::span<float> values) { encrypting->all_reduce(values, {.wire = wire}, kTimeout); }});
  }
  const auto mpi = settings.mpi.empty() ? nullptr : MpiLibrary::start(settings.mpi);
  std::optional<Communicator> mpis;
  if (mpi) {
    mpis.emplace(Communicator::connect(store, {.rank = rank, .size = settings.processes, .mpi = mpi}, kTimeout));
    all.push_back({"mpi", [&mpis](std::span<float> values) { mpis->all_reduce(values, {}, kTimeout); }});
  }
  std::erase_if(all,
                [&](const Variant& variant) { return !settings.variants.empty() && !std::ranges::count(settings.variants, variant.name); });
  std::vector<float> memory(*std::ranges::max_element(settings.bytes) / sizeof(float));
  for (const std::size_t bytes : settings.bytes) {
    const auto values = std::span(memory).first(bytes / sizeof(float));
    const int calls = static_cast<int>(std::clamp<std::size_t>((16 << 20) / bytes, 2, 100));
    std::vector<Cost> best(all.size());
    for (int round = 0; round < settings.rounds; ++round)
      for (std::size_t i = 0; i < all.size(); ++i) best[i].keep_best(block(ours, all[i], values, calls));
    for (std::size_t i = 0; rank == 0 && i < all.size(); ++i)
      fmt::print("bytes {} {} us {:.1f} cpu {:.1f}\n", bytes, all[i].name, best[i].seconds * 1e6, best[i].cpu_seconds * 1e6);
    std::fflush(stdout);
  }
  mpis.reset();
  if (mpi) mpi->finish();
}

bool measured(const Settings& settings, int rank) {
  try {
    measure(settings, rank);
    return true;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "rank {}: {}\n", rank, fault.what());
    return false;
  }
}

// 1 if one of the processes failed.
int run(const Settings& settings) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < settings.processes; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) std::_Exit(measured(settings, rank) ? 0 : 1);
    children.push_back(child);
  }
  bool failed = false;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    failed |= status != 0;
  }
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"time of an all-reduce, ours and plain Gloo in turn; best block of all rounds, microseconds a call"};
  app.add_option("--processes", settings.processes);
  app.add_option("--rounds", settings.rounds);
  app.add_option("--bytes", settings.bytes);
  app.add_option("--variants", settings.variants, "of gloo, f32, bf16, f16, ring, halving_doubling, encrypted, encrypted_bf16, mpi");
  app.add_flag("--encrypt", settings.encrypt, "f32 and bf16 with encrypted messages, too; the others are sealed only");
  app.add_option("--address", settings.address);
  app.add_option("--rank", settings.rank, "run only this one; the others are started elsewhere, with the same --folder");
  app.add_option("--mpi", settings.mpi, "libtrireme_mpi.so: a variant more, in processes of mpirun; with --rank");
  app.add_option("--folder", settings.folder, "empty, and seen by all processes");
  CLI11_PARSE(app, argc, argv);
  if (settings.rank >= 0) return measured(settings, settings.rank) ? 0 : 1;
  settings.folder = std::filesystem::temp_directory_path() / fmt::format("trireme-allreduce-{}", ::getpid());
  std::filesystem::create_directories(settings.folder);
  const int result = run(settings);
  std::filesystem::remove_all(settings.folder);
  return result;
}
