// SPDX-License-Identifier: Apache-2.0
// Tests of the meter with real processes that use time and memory, grandchildren included.
#include "trireme/experiment/resource_meter.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/process.h"

namespace trireme::experiment {
namespace {

TEST(ResourceMeter, CountsTimeAndMemoryOfGrandchildren) {
  const SteadyClock clock;
  ResourceMeter meter(clock);
  // `tail` keeps 40 MB in memory until its input ends; the shell's arithmetic takes processor time.
  Process child({.argv = {"sh", "-c",
                          "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; "
                          "( head -c 40000000 /dev/zero; sleep 1 ) | tail -c 40000000 > /dev/null"}});
  std::size_t most = 0;
  while (!child.wait_for(std::chrono::milliseconds(100))) {
    meter.sample_memory(child.pid());
    meter.sample_network();
    most = std::max(most, process_tree(child.pid()).size());
  }
  const ResourceUse use = meter.finish();
  EXPECT_GE(most, 3U);
  EXPECT_GT(use.cpu_seconds, 0.02);
  EXPECT_GT(use.cpu_share, 0);
  EXPECT_LE(use.cpu_share, 1.01);
  EXPECT_GT(use.memory_most, 35e6);
  EXPECT_GT(use.samples, 5);
  EXPECT_GE(use.seconds, 1);
}

TEST(ResourceMeter, KeptNumbersAreReadAgain) {
  const ResourceUse use{.seconds = 1.5,
                        .cpu_seconds = 2,
                        .cpu_share = 0.25,
                        .memory_most = 3e9,
                        .memory_mean = 1e9,
                        .network_most = 7,
                        .network_mean = 6,
                        .samples = 4,
                        .has_shared_pages = false};
  const ResourceUse read = resource_use_from_json(to_json(use));
  EXPECT_EQ(to_json(read), to_json(use));
  EXPECT_FALSE(read.has_shared_pages);
  EXPECT_THROW(resource_use_from_json("{}"), Error);
}

}  // namespace
}  // namespace trireme::experiment
