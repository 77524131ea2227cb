// SPDX-License-Identifier: Apache-2.0
// Tests of waits in the store that end before their time.
#include "trireme/coord/fenced_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "trireme/base/testing/thrown_error.h"

namespace trireme::coord {
namespace {

using testing::StartsWith;

constexpr Stamp kFirst{.ticket = 1, .generation = 1};

// A get that finds nothing, on a thread of its own; it may begin to wait before or after what wakes it.
std::future<std::string> waiting(FencedStore& store) {
  return std::async(std::launch::async, [&] { return thrown_error([&] { store.get(kFirst, "never", Seconds{10}); }); });
}

TEST(FencedStore, ANewGenerationEndsWaitsAndForgets) {
  FencedStore store;
  store.begin(1);
  store.set(kFirst, "key", "value");
  EXPECT_EQ(store.get(kFirst, "key", Seconds{0}), "value");
  auto wait = waiting(store);
  store.begin(2);
  EXPECT_EQ(wait.get(), "failed_precondition: generation 1 is over: 2 holds");
  EXPECT_THAT(thrown_error([&] { store.get({.ticket = 1, .generation = 2}, "key", Seconds{0}); }), StartsWith("deadline_exceeded"));
}

TEST(FencedStore, ALostNodesWaitsEnd) {
  FencedStore store;
  store.begin(1);
  auto wait = waiting(store);
  store.drop(kFirst.ticket);
  EXPECT_EQ(wait.get(), "failed_precondition: this node is not a member any more");
}

TEST(FencedStore, ItsEndEndsWaits) {
  FencedStore store;
  store.begin(1);
  auto wait = waiting(store);
  store.end();
  EXPECT_THAT(wait.get(), StartsWith("unavailable: "));
}

TEST(FencedStore, ItIsBounded) {
  FencedStore store;
  store.begin(1);
  store.set(kFirst, "a", std::string(FencedStore::kMaxBytes - 10, 'x'));
  EXPECT_THAT(thrown_error([&] { store.set(kFirst, "b", std::string(10, 'x')); }), StartsWith("resource_exhausted"));
  store.begin(2);
  store.set({.ticket = 1, .generation = 2}, "b", std::string(10, 'x'));
}

}  // namespace
}  // namespace trireme::coord
