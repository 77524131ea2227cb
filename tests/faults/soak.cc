// SPDX-License-Identifier: Apache-2.0
// Random faults one after another: a worker killed, stopped or cut off.
#include "tests/faults/soak.h"

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <future>
#include <random>
#include <thread>

#include "tests/faults/scene.h"

namespace trireme::tests {
namespace {

using std::chrono::seconds;

constexpr int kHosts = 3;
constexpr auto kEvery = seconds(15);

struct Fault {
  const char* name;
  void (*act)(Scene& scene, const Training& training, int node);
};

void kill_node(Scene&, const Training& training, int node) { training.signal_node(node, SIGKILL); }

template <int Time>
void stop_node(Scene&, const Training& training, int node) {
  const auto pid = training.node(node);
  if (!pid) return;
  ::kill(*pid, SIGSTOP);
  std::this_thread::sleep_for(seconds(Time));
  ::kill(*pid, SIGCONT);
}

template <int Time>
void cut_node(Scene& scene, const Training&, int node) {
  scene.hosts().cut(static_cast<std::size_t>(node));
  std::this_thread::sleep_for(seconds(Time));
  scene.hosts().heal(static_cast<std::size_t>(node));
}

constexpr Fault kFaults[] = {{"killed", kill_node},
                             {"stopped for 2 s", stop_node<2>},
                             {"stopped for 8 s", stop_node<8>},
                             {"cut off for 2 s", cut_node<2>},
                             {"cut off for 8 s", cut_node<8>}};

// As many epochs as an undisturbed training does in two thirds of the time.
int epochs_for(Scene& scene, double minutes) {
  constexpr int kTried = 10;
  const TrainingSetup tried{.nodes = kHosts, .settings = {fmt::format("train.epochs={}", kTried)}};
  return std::max(kTried, static_cast<int>(std::ceil(40 * minutes / scene.control(tried).seconds * kTried)));
}

// Returns how many there were.
int do_faults(Scene& scene, const Training& training, std::uint32_t seed) {
  std::mt19937 random(seed);
  int count = 0;
  while (training.is_running()) {
    const auto next = std::chrono::steady_clock::now() + kEvery;
    const int node = std::uniform_int_distribution(0, kHosts - 1)(random);
    const Fault& fault = kFaults[std::uniform_int_distribution<std::size_t>(0, std::size(kFaults) - 1)(random)];
    const bool is_there = training.node(node).has_value();
    const Standing now = training.standing();
    fmt::print(stderr, "soak: step {}, generation {}, {} MB: worker {} {}\n", now.step, now.generation, training.peak_memory().bytes >> 20,
               node, is_there ? fault.name : "is not there");
    if (is_there) fault.act(scene, training, node);
    count += is_there ? 1 : 0;
    await([&] { return !training.is_running() || std::chrono::steady_clock::now() > next; }, kEvery);
  }
  return count;
}

Outcome run(Scene& scene, double minutes, std::uint32_t seed) {
  const std::uint32_t chosen = seed == 0 ? std::random_device{}() : seed;
  fmt::print(stderr, "soak: seed {}\n", chosen);
  const TrainingSetup setup{.nodes = kHosts, .on_hosts = true, .settings = {fmt::format("train.epochs={}", epochs_for(scene, minutes))}};
  const auto training = scene.begin(setup);
  // The undisturbed one runs beside it: one after the other would take twice the time.
  auto control = std::async(std::launch::async, [&] { scene.control(setup, seconds(static_cast<int>(minutes * 60 * 4))); });
  const double begin = wall_time();
  const int faults = do_faults(scene, *training, chosen);
  const double took = wall_time() - begin;
  control.get();
  Outcome outcome = scene.judge(*training, setup, {});
  const Standing end = training->standing();
  outcome.result += fmt::format(
      "; seed {}: {} faults in {:.0f} s, {} steps, {} generations, {:.0f} s undisturbed, {} MB ({} MB undisturbed)", chosen, faults, took,
      end.step, end.generation, scene.control(setup).seconds, training->peak_memory().bytes >> 20, scene.control(setup).peak_memory >> 20);
  return outcome;
}

}  // namespace

FaultRow soak(double minutes, std::uint32_t seed) {
  return {.id = "F32.soak",
          .fault = fmt::format("soak: {} minutes on three hosts, a random fault every 15 s", minutes),
          .run = [=](Scene& scene) { return run(scene, minutes, seed); },
          .limit = seconds(static_cast<int>(minutes * 60 * 4) + 300)};
}

}  // namespace trireme::tests
