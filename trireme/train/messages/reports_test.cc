// SPDX-License-Identifier: Apache-2.0
// Messages of a training: what is packed comes out again, and damaged bytes are refused.
#include "trireme/train/messages/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/train/messages/checkpoint_transfer.h"

namespace trireme::train {
namespace {

Checkpoint example(std::size_t parameters) {
  Checkpoint checkpoint{.cursor = {.step = 12, .samples_seen = 700, .epoch = 2, .best = 0.5, .best_epoch = 1}, .generation = 3};
  for (std::size_t i = 0; i < parameters; ++i) checkpoint.parameters.push_back(static_cast<float>(i) / 7);
  checkpoint.states = {1, 2, 3};
  checkpoint.slot_names = {"velocity"};
  checkpoint.slots = {checkpoint.parameters};
  checkpoint.rank = 2;
  return checkpoint;
}

void expect_equal(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.cursor.step, b.cursor.step);
  EXPECT_EQ(a.cursor.samples_seen, b.cursor.samples_seen);
  EXPECT_EQ(a.cursor.best_epoch, b.cursor.best_epoch);
  EXPECT_EQ(a.generation, b.generation);
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.slots, b.slots);
  EXPECT_EQ(a.slot_names, b.slot_names);
  ASSERT_EQ(a.best == nullptr, b.best == nullptr);
  if (a.best == nullptr) return;
  EXPECT_EQ(a.best->parameters, b.best->parameters);
  EXPECT_EQ(a.best->states, b.best->states);
}

TEST(Reports, StepsComeOutAsTheyWentIn) {
  const StepRecord in{.step = 3,
                      .epoch = 1,
                      .batch = {.samples = 64, .loss = 2.5, .accuracy = 0.25},
                      .workers = 4,
                      .exchange_seconds = 0.125,
                      .noise_scale = 812.5,
                      .skips = {.steps = 2, .ranks = {0, 3}}};
  const StepRecord out = unpack_step(pack(in));
  EXPECT_EQ(out.step, 3);
  EXPECT_EQ(out.batch.samples, 64);
  EXPECT_EQ(out.batch.loss, 2.5);
  EXPECT_EQ(out.workers, 4);
  EXPECT_EQ(out.exchange_seconds, 0.125);
  EXPECT_EQ(out.noise_scale, 812.5);
  EXPECT_EQ(out.skips.steps, 2);
  EXPECT_EQ(out.skips.ranks, in.skips.ranks);
}

TEST(Reports, CheckpointsComeOutAsTheyWentIn) { expect_equal(unpack_checkpoint(pack(example(1000))), example(1000)); }

Checkpoint example_with_best() {
  Checkpoint checkpoint = example(5);
  checkpoint.best = std::make_shared<const KeptWeights>(KeptWeights{.parameters = {9, 8, 7, 6, 5}, .states = {4, 5, 6}});
  return checkpoint;
}

TEST(Reports, ACheckpointMayHaveABestEpoch) { expect_equal(unpack_checkpoint(pack(example_with_best())), example_with_best()); }

TEST(Reports, EveryTruncationOfACheckpointIsRefused) {
  const std::string bytes = pack(example_with_best());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(unpack_checkpoint(std::string_view(bytes).substr(0, length)), Error) << length;
  EXPECT_THAT(thrown_error([&] { unpack_checkpoint(bytes + "x"); }), testing::HasSubstr("too many"));
}

// 2.4 MB: three pieces.
TEST(CheckpointDesk, TakesACheckpointInPiecesAndGivesOneOut) {
  std::vector<Checkpoint> kept;
  CheckpointDesk desk(4 << 20, [&](Checkpoint checkpoint) {
    kept.push_back(std::move(checkpoint));
    return true;
  });
  desk.begin_generation(example(1).generation);
  int calls = 0;
  hand_in(example(300'000), [&](const std::string& piece) {
    ++calls;
    return desk.put(piece);
  });
  EXPECT_EQ(calls, 3);
  ASSERT_EQ(kept.size(), 1U);
  expect_equal(kept[0], example(300'000));
  desk.offer(kept[0]);
  const auto get = [&](const std::string& request) { return desk.get(request); };
  const auto asked = ask_for({}, get);
  ASSERT_TRUE(asked);
  expect_equal(*asked, kept[0]);
  EXPECT_FALSE(ask_for(kept[0].position(), get)) << "it is no further than that";
}

TEST(CheckpointDesk, ASenderThatGaveUpDoesNotDisturbTheNext) {
  std::vector<Checkpoint> kept;
  CheckpointDesk desk(4 << 20, [&](Checkpoint checkpoint) {
    kept.push_back(std::move(checkpoint));
    return true;
  });
  desk.begin_generation(example(1).generation);
  int calls = 0;
  const auto gives_up = [&](const std::string& piece) {
    if (++calls == 3) throw Error{unavailable, "gone"};
    return desk.put(piece);
  };
  EXPECT_THROW(hand_in(example(300'000), gives_up), Error);
  hand_in(example(400'000), [&](const std::string& piece) { return desk.put(piece); });
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].parameters.size(), 400'000U);
}

// As when a call takes too long, because the disk hangs.
TEST(CheckpointDesk, APieceMayComeAgainAndACheckpointIsKeptOnce) {
  int kept = 0;
  CheckpointDesk desk(4 << 20, [&](const Checkpoint&) { return ++kept > 0; });
  desk.begin_generation(example(1).generation);
  const auto twice = [&](const std::string& piece) {
    desk.put(piece);
    return desk.put(piece);
  };
  hand_in(example(300'000), twice);
  EXPECT_EQ(kept, 1);
  Checkpoint later = example(300'000);
  ++later.cursor.epoch;  // an epoch may end between two steps
  hand_in(later, twice);
  EXPECT_EQ(kept, 2);
}

TEST(CheckpointDesk, WhatCouldNotBeKeptMayBeHandedInAgain) {
  int calls = 0;
  CheckpointDesk desk(4 << 20, [&](const Checkpoint&) {
    if (++calls == 1) throw Error{out_of_range, "a value is not finite"};
    return true;
  });
  desk.begin_generation(example(1).generation);
  const auto put = [&](const std::string& piece) { return desk.put(piece); };
  EXPECT_THROW(hand_in(example(300'000), put), Error);
  hand_in(example(300'000), put);
  EXPECT_EQ(calls, 2);
}

// The coordinator has it, tries it again by itself, and gives out what is on disk until then.
TEST(CheckpointDesk, WhatTheDiskRefusedIsTakenAndNotGivenOut) {
  bool is_full = true;
  int calls = 0;
  CheckpointDesk desk(4 << 20, [&](const Checkpoint&) {
    ++calls;
    return !is_full;
  });
  desk.begin_generation(example(1).generation);
  const auto put_twice = [&](const std::string& piece) {
    desk.put(piece);
    return desk.put(piece);  // the answer took too long
  };
  EXPECT_FALSE(hand_in(example(300'000), put_twice));
  EXPECT_EQ(calls, 1);
  const auto get = [&](const std::string& request) { return desk.get(request); };
  EXPECT_FALSE(ask_for({}, get));
  is_full = false;
  Checkpoint later = example(300'000);
  ++later.cursor.step;
  EXPECT_TRUE(hand_in(later, put_twice));
  const auto asked = ask_for({}, get);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->cursor.step, later.cursor.step);
}

TEST(CheckpointDesk, RefusesWhatIsTooLargeAndWhatDoesNotFollow) {
  CheckpointDesk desk(1000, [](const Checkpoint&) { return true; });
  desk.begin_generation(example(1).generation);
  EXPECT_THAT(thrown_error([&] { hand_in(example(1000), [&](const std::string& piece) { return desk.put(piece); }); }),
              testing::HasSubstr("larger than this model's"));
  CheckpointDesk other(4 << 20, [](const Checkpoint&) { return true; });
  other.begin_generation(example(1).generation);
  int calls = 0;
  EXPECT_THAT(thrown_error([&] {
                hand_in(example(300'000), [&](const std::string& piece) { return ++calls == 2 ? std::string() : other.put(piece); });
              }),
              testing::HasSubstr("does not follow"));
}

TEST(CheckpointDesk, RefusesWhatComesFromAnOlderGeneration) {
  int kept = 0;
  CheckpointDesk desk(4 << 20, [&](const Checkpoint&) { return ++kept > 0; });
  const auto generation = static_cast<std::uint64_t>(example(1).generation);
  desk.begin_generation(generation);
  int calls = 0;
  // The next generation begins while the checkpoint is on its way.
  EXPECT_THAT(thrown_error([&] {
                hand_in(example(300'000), [&](const std::string& piece) {
                  if (++calls == 3) desk.begin_generation(generation + 1);
                  return desk.put(piece);
                });
              }),
              testing::HasSubstr("comes too late"));
  EXPECT_EQ(kept, 0);
}

}  // namespace
}  // namespace trireme::train
