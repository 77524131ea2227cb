// SPDX-License-Identifier: Apache-2.0
// Signals that come while the program computes.
#include "trireme/run/terminal/interrupts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "trireme/engine/executor.h"
#include "trireme/graph/model_entry.h"

namespace trireme::run {
namespace {

bool is_blocked_here(int number) {
  sigset_t mask;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, number) == 1;
}

int awaited(const Interrupts& interrupts) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (interrupts.signal() == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return interrupts.signal();
}

TEST(Interrupts, AreSeenWhileTheyAreBlockedWhereTheProgramComputes) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    const Interrupts interrupts;
    EXPECT_TRUE(is_blocked_here(number));
    bool is_blocked_there = false;
    std::thread([&] { is_blocked_there = is_blocked_here(number); }).join();
    EXPECT_TRUE(is_blocked_there) << "in a thread that was started later";
    ::kill(::getpid(), number);
    EXPECT_EQ(awaited(interrupts), number);
  }
  EXPECT_FALSE(is_blocked_here(SIGINT));
}

TEST(Interrupts, WhatWasIgnoredStaysIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  {
    const Interrupts interrupts;
    ::kill(::getpid(), SIGHUP);
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(awaited(interrupts), SIGUSR1);
  }
  std::signal(SIGHUP, SIG_DFL);
}

TEST(InterruptsDeathTest, TheSecondOneEndsTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const Interrupts interrupts;
        ::kill(::getpid(), SIGTERM);
        awaited(interrupts);
        ::kill(::getpid(), SIGTERM);
        std::this_thread::sleep_for(std::chrono::seconds(10));
      },
      testing::KilledBySignal(SIGTERM), "");
}

// Handled by the thread that computes, a few of these are enough to break the heap.
TEST(Interrupts, AMatrixProductIsNotDisturbed) {
  const graph::Graph graph = graph::build_model("mlp_300_100");
  constexpr std::int64_t kBatch = 64;
  engine::Executor executor(graph, {.batch_size = kBatch, .threads = 1});
  std::vector<float> parameters(static_cast<std::size_t>(graph.parameters().size())), gradients(parameters.size()), states;
  graph.initialize_parameters(parameters, 3);
  const std::vector<float> input(static_cast<std::size_t>(kBatch * graph.node(graph.inputs()[0]).shape.count()), 0.5F);
  const std::vector<std::int32_t> labels(kBatch, 3);
  const engine::BatchView batch{.size = kBatch, .inputs = {input}, .labels = labels};
  const auto loss = [&] { return executor.train_step(batch, {parameters, states, gradients}).loss; };
  const double expected = loss();
  for (int i = 0; i < 300; ++i) {
    const Interrupts interrupts;
    std::thread sender([i] {
      std::this_thread::sleep_for(std::chrono::microseconds(100 + i * 37 % 1000));
      ::kill(::getpid(), SIGUSR1);
    });
    for (int step = 0; step < 1000 && interrupts.signal() == 0; ++step) ASSERT_EQ(loss(), expected);
    sender.join();
    EXPECT_EQ(awaited(interrupts), SIGUSR1);
  }
}

}  // namespace
}  // namespace trireme::run
