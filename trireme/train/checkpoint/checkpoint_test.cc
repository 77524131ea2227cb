// SPDX-License-Identifier: Apache-2.0
// Tests of checkpoints: what is saved is loaded, and no damage goes unseen.
#include "trireme/train/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include "trireme/base/digest.h"
#include "trireme/base/files.h"
#include "trireme/base/random.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/graph/running_statistics.h"
#include "trireme/tensor/safetensors.h"
#include "trireme/train/checkpoint/checkpoint_layout.h"
#include "trireme/train/testing/sample_checkpoint.h"

namespace trireme::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::array<const char*, 5> kFiles = {"SHA256SUMS", "manifest.json", "model.safetensors", "optimizer.safetensors",
                                               "best.safetensors"};

void overwrite(const std::filesystem::path& path, std::string_view content) { OutputFile(path, OutputFile::Mode::replace).write(content); }

void replace_in(const std::filesystem::path& path, std::string_view from, std::string_view to) {
  std::string content = read_file(path);
  const std::size_t at = content.find(from);
  ASSERT_NE(at, std::string::npos);
  overwrite(path, content.replace(at, from.size(), to));
}

// Sums that fit again after a file was altered on purpose.
void sum_again(const std::filesystem::path& directory) {
  std::string sums;
  for (const char* file : {"manifest.json", "model.safetensors", "optimizer.safetensors", "best.safetensors"})
    if (std::filesystem::exists(directory / file)) sums += digest_of_file(Digest::Kind::sha256, directory / file) + "  " + file + "\n";
  overwrite(directory / "SHA256SUMS", sums);
}

class Checkpoints : public CheckpointTest {
 protected:
  std::filesystem::path at(std::int64_t step) const { return folder_ / fmt::format("step-{:08}", step); }

  // The newest is damaged: the one before it is taken, and a warning names the damaged one.
  void expect_fallback(std::int64_t from, std::int64_t to) const {
    const auto loaded = store_.load_newest();
    ASSERT_TRUE(loaded.has_value());
    EXPECT_EQ(loaded->checkpoint.cursor.step, to);
    EXPECT_EQ(loaded->directory, at(to));
    ASSERT_EQ(loaded->warnings.size(), 1U);
    EXPECT_THAT(loaded->warnings.front(), StartsWith("checkpoint " + at(from).string() + " is damaged and was passed over: "));
  }
};

// With good hashes: it would not be seen before it was resumed.
TEST_F(Checkpoints, WhatIsNotFiniteIsRefusedByName) {
  save(1);
  const auto refusal = [&](const auto& spoil) {
    Checkpoint bad = sample_checkpoint(graph_, 2);
    bad.rank = 3;
    spoil(bad);
    return thrown_error([&] { store_.save(bad); });
  };
  const std::string parameter = std::string(graph_.parameters()[0].name);
  EXPECT_THAT(refusal([](Checkpoint& bad) { bad.parameters[0] = std::numeric_limits<float>::quiet_NaN(); }),
              testing::AllOf(HasSubstr("step 2"), HasSubstr(parameter + " of rank 3"), HasSubstr("not finite")));
  EXPECT_THAT(refusal([](Checkpoint& bad) { bad.slots[0].back() = std::numeric_limits<float>::infinity(); }), HasSubstr("not finite"));
  EXPECT_THAT(refusal([](Checkpoint& bad) { bad.states.back() = -std::numeric_limits<float>::infinity(); }), HasSubstr("not finite"));
  const auto loaded = store_.load_newest();
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->checkpoint.cursor.step, 1);
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST_F(Checkpoints, NoDirectoryMeansNoCheckpoint) {
  EXPECT_FALSE(store_.load_newest().has_value());
  EXPECT_EQ(thrown_error([&] { load_checkpoint(folder_ / "step-00000001", graph_); }),
            "not_found: there is no checkpoint " + at(1).string());
}

TEST_F(Checkpoints, LoadsWhatWasSaved) {
  EXPECT_EQ(store_.save(sample_checkpoint(graph_, 12)), at(12));
  const auto loaded = store_.load_newest();
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->directory, at(12));
  EXPECT_TRUE(loaded->warnings.empty());
  EXPECT_EQ(loaded->checkpoint.cursor.step, 12);
  expect_is_sample(loaded->checkpoint, graph_);
  expect_is_sample(load_checkpoint(at(12), graph_), graph_);
}

TEST_F(Checkpoints, AnOptimizerWithoutSlotsIsFine) {
  Checkpoint checkpoint = sample_checkpoint(graph_, 1);
  checkpoint.slots.clear();
  checkpoint.slot_names.clear();
  store_.save(checkpoint);
  EXPECT_TRUE(store_.load_newest()->checkpoint.slots.empty());
}

// As a Trireme from before there were best epochs wrote and reads it.
TEST_F(Checkpoints, WithoutABestEpochItIsAsBefore) {
  Checkpoint checkpoint = sample_checkpoint(graph_, 1);
  checkpoint.best.reset();
  store_.save(checkpoint);
  EXPECT_THAT(read_file(at(1) / "manifest.json"), HasSubstr(R"("version": 1)"));
  EXPECT_FALSE(std::filesystem::exists(at(1) / "best.safetensors"));
  EXPECT_EQ(load_checkpoint(at(1), graph_).best, nullptr);
}

TEST_F(Checkpoints, TheBestEpochsWeightsAreATensorFileOfTheSameModel) {
  save(1);
  const Safetensors best = Safetensors::load(at(1) / "best.safetensors");
  ASSERT_EQ(best.tensors().size(), Safetensors::load(at(1) / "model.safetensors").tensors().size());
  Checkpoint bad = sample_checkpoint(graph_, 2);
  KeptWeights spoiled = *bad.best;
  spoiled.parameters[0] = std::numeric_limits<float>::quiet_NaN();
  bad.best = std::make_shared<const KeptWeights>(spoiled);
  EXPECT_THAT(thrown_error([&] { store_.save(bad); }), HasSubstr("not finite"));
}

TEST_F(Checkpoints, SumsAreWhatSha256sumChecks) {
  save(1);
  EXPECT_EQ(std::system(("cd '" + at(1).string() + "' && sha256sum --check --strict --quiet SHA256SUMS").c_str()), 0);
}

TEST_F(Checkpoints, TheLastTwoAreKept) {
  for (const int step : {1, 2, 10, 123456789}) save(step);
  EXPECT_THAT(entries(), ElementsAre("step-00000010", "step-123456789"));
  EXPECT_EQ(store_.load_newest()->checkpoint.cursor.step, 123456789);
}

TEST_F(Checkpoints, TheSameStepAgainReplacesIt) {
  save(1);
  Checkpoint again = sample_checkpoint(graph_, 1);
  again.generation = 4;
  store_.save(again);
  EXPECT_THAT(entries(), ElementsAre("step-00000001"));
  EXPECT_EQ(store_.load_newest()->checkpoint.generation, 4);
}

TEST_F(Checkpoints, WhatWasSavedLastIsWhatLoadsAfterAResumptionFromAnEarlierStep) {
  for (const int step : {100, 200}) save(step);
  overwrite(at(200) / "manifest.json", "");
  expect_fallback(200, 100);
  save(150);
  EXPECT_THAT(entries(), ElementsAre("step-00000100", "step-00000150"));
}

TEST_F(Checkpoints, LeftoversOfDeadWritersGoAndThoseOfTheLivingStay) {
  const pid_t dead = 0x3ffffff;  // above what Linux gives out
  std::filesystem::create_directories(folder_ / fmt::format(".tmp-{}-step-00000007", dead) / "deep");
  std::filesystem::create_directories(folder_ / ".tmp-1-step-00000008");
  std::filesystem::create_directories(folder_ / "step-7");
  std::filesystem::create_directories(folder_ / "notes");
  save(1);
  EXPECT_THAT(entries(), ElementsAre(".tmp-1-step-00000008", "notes", "step-00000001", "step-7"));
}

TEST_F(Checkpoints, AThousandFlippedBitsAreAllSeen) {
  for (const int step : {1, 2}) save(step);
  RandomStream random(17);
  for (int trial = 0; trial < 1000; ++trial) {
    const auto path = at(2) / kFiles[static_cast<std::size_t>(trial) % kFiles.size()];
    const std::string good = read_file(path);
    std::string bad = good;
    const std::uint64_t bit = random.below(8 * good.size());
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    overwrite(path, bad);
    ASSERT_NO_FATAL_FAILURE(expect_fallback(2, 1)) << path << " bit " << bit;
    overwrite(path, good);
  }
  EXPECT_EQ(store_.load_newest()->checkpoint.cursor.step, 2) << "restored, it is good again";
}

TEST_F(Checkpoints, EveryTruncationAndExtensionIsSeen) {
  for (const int step : {1, 2}) save(step);
  for (const char* file : kFiles) {
    const std::string good = read_file(at(2) / file);
    for (std::size_t length = 0; length < good.size(); length += length < 600 ? 1 : 97) {
      overwrite(at(2) / file, good.substr(0, length));
      ASSERT_NO_FATAL_FAILURE(expect_fallback(2, 1)) << file << " cut at " << length;
    }
    overwrite(at(2) / file, good + "\n");
    expect_fallback(2, 1);
    overwrite(at(2) / file, good);
  }
}

TEST_F(Checkpoints, AMissingFileIsNamed) {
  for (const int step : {1, 2}) save(step);
  for (const char* file : kFiles) {
    std::filesystem::rename(at(2) / file, folder_ / "aside");
    expect_fallback(2, 1);
    EXPECT_EQ(thrown_error([&] { load_checkpoint(at(2), graph_); }), "data_loss: " + (at(2) / file).string() + " is missing");
    std::filesystem::rename(folder_ / "aside", at(2) / file);
  }
}

TEST_F(Checkpoints, FilesSwappedBetweenTwoAreSeenInBoth) {
  for (const int step : {1, 2}) save(step);
  for (const char* file : kFiles) {
    std::filesystem::rename(at(1) / file, folder_ / "aside");
    std::filesystem::rename(at(2) / file, at(1) / file);
    std::filesystem::rename(folder_ / "aside", at(2) / file);
    EXPECT_THAT(thrown_error([&] { store_.load_newest(); }),
                StartsWith("data_loss: none of the checkpoints in " + folder_.string() + " is good"));
    std::filesystem::rename(at(1) / file, folder_ / "aside");
    std::filesystem::rename(at(2) / file, at(1) / file);
    std::filesystem::rename(folder_ / "aside", at(2) / file);
  }
  EXPECT_TRUE(store_.load_newest()->warnings.empty());
}

TEST_F(Checkpoints, NoneGoodReportsEveryFault) {
  for (const int step : {1, 2}) save(step);
  overwrite(at(1) / "model.safetensors", "");
  std::filesystem::remove(at(2) / "manifest.json");
  const std::string fault = thrown_error([&] { store_.load_newest(); });
  EXPECT_THAT(fault, HasSubstr((at(2) / "manifest.json").string() + " is missing"));
  EXPECT_THAT(fault, HasSubstr((at(1) / "model.safetensors").string() + " has another checksum"));
}

TEST_F(Checkpoints, ANewerFormatIsRefusedNotPassedOver) {
  for (const int step : {1, 2}) save(step);
  replace_in(at(2) / "manifest.json", R"("version": 2)", R"("version": 9)");
  sum_again(at(2));
  EXPECT_EQ(thrown_error([&] { store_.load_newest(); }),
            "failed_precondition: " + (at(2) / "manifest.json").string() +
                " has format version 9, this Trireme reads up to version 2; use a newer Trireme");
}

TEST_F(Checkpoints, AnotherModelIsRefusedWithTheFirstDifference) {
  save(1);
  const graph::Graph wider = sample_graph(8);
  EXPECT_EQ(thrown_error([&] { CheckpointStore(folder_, wider).load_newest(); }),
            "failed_precondition: " + at(1).string() +
                " is a checkpoint of another model: as tensor 1 it has 'first/kernel' (4x3x3x3), the model has 'first/kernel' (8x3x3x3); "
                "use the job file it was trained with");
  graph::Builder b;
  const graph::Graph shorter = b.finish(b.batch_norm(b.conv2d(b.input({3, 6, 6}), {.filters = 4, .kernel = 3}, "first")));
  EXPECT_THAT(thrown_error([&] { load_checkpoint(at(1), shorter); }),
              HasSubstr("as tensor 5 it has 'dense_1/kernel' (5x64), the model has 'batch_norm_1/mean' (4)"));
}

// Before batch_norm counted its updates. They were many enough: what it did then was the plain moving mean.
TEST_F(Checkpoints, OneThatDoesNotCountUpdatesIsLoadedAsAfterMany) {
  Checkpoint wanted = sample_checkpoint(graph_, 3);
  wanted.best.reset();
  store_.save(wanted);
  std::vector<TensorToWrite> tensors;
  for (const Place& place : older_model_places(graph_)) {
    const std::span<const float> values = place.array == 0 ? wanted.parameters : wanted.states;
    tensors.push_back(
        {.name = place.name,
         .shape = place.slice->shape,
         .values = values.subspan(static_cast<std::size_t>(place.slice->offset), static_cast<std::size_t>(place.slice->count))});
  }
  const std::uintmax_t bytes = std::filesystem::file_size(at(3) / "model.safetensors");
  std::filesystem::remove(at(3) / "model.safetensors");
  const WrittenFile older = write_safetensors(at(3) / "model.safetensors", tensors);
  replace_in(at(3) / "manifest.json", fmt::format(R"("model.safetensors": {})", bytes),
             fmt::format(R"("model.safetensors": {})", older.bytes));
  sum_again(at(3));
  EXPECT_THAT(thrown_error([&] { load_checkpoint(at(3), graph_); }), HasSubstr("its hash is"));

  // As that Trireme computed it: over names and shapes of these tensors.
  constexpr std::string_view kHashThen = "1c7c1dcd9d98e878d831be0871c4e5a5e227896ba0c634043ceaecff7940e03e";
  replace_in(at(3) / "manifest.json", model_hash(graph_), kHashThen);
  sum_again(at(3));
  const Checkpoint found = load_checkpoint(at(3), graph_);
  EXPECT_EQ(found.parameters, wanted.parameters);
  wanted.states.back() = graph::kManyUpdates;
  EXPECT_EQ(found.states, wanted.states);
}

TEST_F(Checkpoints, AFileOfTheWrongSizeIsSeenEvenWithFittingSums) {
  save(1);
  overwrite(at(1) / "model.safetensors", read_file(at(1) / "model.safetensors").substr(0, 100));
  sum_again(at(1));
  EXPECT_THAT(thrown_error([&] { load_checkpoint(at(1), graph_); }), HasSubstr("model.safetensors has 100 bytes, the manifest says "));
  overwrite(at(1) / "model.safetensors", std::string(1'000'000, 'x'));
  sum_again(at(1));
  EXPECT_THAT(thrown_error([&] { load_checkpoint(at(1), graph_); }), HasSubstr("model.safetensors is longer than the "));
}

TEST_F(Checkpoints, WhatStandsInTheWayIsNamed) {
  overwrite(folder_, "a file where the folder should be");
  EXPECT_THAT(thrown_error([&] { save(1); }), HasSubstr(folder_.string()));
}

}  // namespace
}  // namespace trireme::train
