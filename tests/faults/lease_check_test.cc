// SPDX-License-Identifier: Apache-2.0
// Histories of trainings with parameter servers, made by hand: good ones pass, and what was used or applied wrongly is found.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/faults/checker.h"
#include "tests/faults/written_history.h"
#include "trireme/base/files.h"

namespace trireme::tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::int64_t kSamples = 10;
constexpr const char* kServer = "node-0-10";
constexpr const char* kOther = "node-1-11";  // the second server
constexpr const char* kWorker = "node-2-12";

class Written : public WrittenHistory {
 public:
  void generation(std::int64_t number, const std::string& members = "0 1 2") { WrittenHistory::generation(number, members); }
  struct Begin {
    std::int64_t generation = 1, step = 0, epoch = 0, offset = 0;
    bool resumed = false;
  };
  void joined(const std::vector<const char*>& files, const Begin& begin) {
    for (const char* file : files)
      line(file,
           fmt::format(R"("type":"joined","generation":{},"rank":0,"size":3,"step":{},"epoch":{},"offset":{},"samples":{},)"
                       R"("batch_size":4,"root":0,"by_lease":true,"resumed":{},"weights":"{}")",
                       begin.generation, begin.step, begin.epoch, begin.offset, kSamples, begin.resumed, begin.resumed ? file : "same"));
  }
  void used(std::int64_t generation, std::int64_t epoch, std::int64_t begin, std::int64_t end) {
    line(kServer, fmt::format(R"("type":"used","generation":{},"epoch":{},"begin":{},"end":{},"worker":0)", generation, epoch, begin, end));
  }
  void broken(const char* file, std::int64_t generation, std::int64_t step) {
    line(file, fmt::format(R"("type":"broken","generation":{},"step":{},"cause":"this generation is over")", generation, step));
  }
  struct Part {
    const char* worker = "2";
    std::int64_t id = 0, lease = 0, samples = 0, pieces = 0, all = 0;
  };
  void part(const char* file, const Part& part) {
    line(file,
         fmt::format(R"("type":"applied","worker":"{}","id":{},"taken":true,"stretch":0,"lease":{},"samples":{},"pieces":{},"all":{})",
                     part.worker, part.id, part.lease, part.samples, part.pieces, part.all));
  }
  void used_of(std::int64_t lease, std::int64_t begin, std::int64_t end) {
    line(kServer,
         fmt::format(R"("type":"used","generation":1,"epoch":0,"begin":{},"end":{},"worker":0,"stretch":0,"lease":{})", begin, end, lease));
  }
  void applied(const char* file, std::int64_t id) { line(file, fmt::format(R"("type":"applied","worker":"2","id":{},"taken":true)", id)); }
  void acknowledged(const char* file, std::int64_t id) { line(file, fmt::format(R"("type":"acknowledged","id":{})", id)); }
  void pushed(std::int64_t id) {
    applied(kServer, id);
    applied(kOther, id);
    acknowledged(kWorker, id);
  }
};

// An epoch and a bit in any order; the worker dies and comes back; then a server dies, and all go back to the checkpoint.
Written good() {
  Written history;
  history.generation(1);
  history.joined({kServer, kOther, kWorker}, {});
  for (const std::int64_t begin : {2, 0, 6, 4, 8}) history.used(1, 0, begin, begin + 2);
  for (std::int64_t id = 1; id <= 5; ++id) history.pushed(id);
  history.commit(1, 5);
  history.used(1, 1, 2, 4);
  history.pushed(6);
  history.applied(kServer, 7);  // on its way when the worker died
  history.generation(2, "0 1");
  history.joined({kServer, kOther}, {.generation = 2, .step = 6, .epoch = 1, .offset = 2, .resumed = true});
  history.generation(3);
  history.joined({kServer, kOther, "node-2-13"}, {.generation = 3, .step = 6, .epoch = 1, .offset = 2, .resumed = true});
  history.used(3, 1, 0, 2);
  history.generation(4);
  history.joined({kServer, "node-1-14", "node-2-13"}, {.generation = 4, .step = 5, .epoch = 1});
  for (const std::int64_t begin : {0, 2, 4, 6, 8}) history.used(4, 1, begin, begin + 2);
  history.commit(4, 10);
  return history;
}

TEST(LeaseCheck, AGoodHistoryHasNoViolations) { EXPECT_THAT(good().violations({.exit_code = 0}), IsEmpty()); }

// The worker died when all servers had its push, and the lead finds that out between two generations.
TEST(LeaseCheck, WhatIsSettledBetweenGenerationsIsInTheNextCommit) {
  const auto history = [](bool is_broken) {
    Written written;
    written.generation(1);
    written.joined({kServer, kOther, kWorker}, {});
    written.used(1, 0, 0, 2);
    if (is_broken) written.broken(kServer, 1, 1);
    written.used(1, 0, 2, 4);
    written.generation(2, "0 1");
    written.joined({kServer, kOther}, {.generation = 2, .step = 1, .epoch = 0, .offset = 4, .resumed = true});
    for (const std::int64_t begin : {4, 6, 8}) written.used(2, 0, begin, begin + 2);
    written.commit(2, 5);
    return written.violations();
  };
  EXPECT_THAT(history(true), IsEmpty());
  EXPECT_THAT(history(false), Contains(AllOf(StartsWith("I1"), HasSubstr("a commit of a step that no node has done"))));
}

TEST(LeaseCheck, FindsSamplesUsedTwice) {
  Written history = good();
  history.used(4, 2, 0, 4);
  history.used(4, 2, 2, 6);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I3 node-0-10"), HasSubstr("samples 2 to 6 of epoch 2 are used twice"))));
}

TEST(LeaseCheck, FindsAnEpochThatIsOverTooEarly) {
  Written history = good();
  history.used(4, 2, 0, 8);
  history.used(4, 3, 0, 2);
  EXPECT_THAT(history.violations(), Contains(HasSubstr("epoch 2 is over, and of its 10 samples were used: [0, 8)")));
}

TEST(LeaseCheck, FindsAnEndTooEarly) {
  Written history = good();
  history.used(4, 2, 0, 2);
  history.used(4, 2, 4, 10);
  EXPECT_THAT(history.violations({.exit_code = 0}), Contains(HasSubstr("samples were used: [0, 2) [4, 10)")));
  EXPECT_THAT(history.violations(), IsEmpty());
}

TEST(LeaseCheck, FindsABeginningWithSamplesThatNoWorkerUsed) {
  Written history = good();
  history.used(4, 2, 2, 4);
  history.generation(5);
  history.joined({kServer, "node-1-14", "node-2-13"}, {.generation = 5, .step = 11, .epoch = 2, .offset = 4});
  EXPECT_THAT(history.violations(), Contains(HasSubstr("it begins after 4 samples of epoch 2, of which were used: [2, 4)")));
}

TEST(LeaseCheck, FindsAPushAppliedTwice) {
  Written history = good();
  history.applied(kServer, 20);
  history.applied(kServer, 20);
  EXPECT_THAT(history.violations(), Contains(AllOf(StartsWith("I3 node-0-10"), HasSubstr("push 20 of node 2 was applied 2 times"))));
}

TEST(LeaseCheck, AnIdMayComeAgainAfterTheStateWentBack) {
  Written history = good();
  history.applied(kServer, 3);
  history.acknowledged("node-2-13", 3);
  EXPECT_THAT(history.violations(), IsEmpty());
}

TEST(LeaseCheck, FindsAnAcknowledgedPushThatAServerDoesNotHave) {
  Written history = good();
  history.pushed(30);
  history.applied(kServer, 31);
  history.acknowledged(kWorker, 31);
  EXPECT_THAT(history.violations(),
              Contains(AllOf(StartsWith("I3 node-2-12"), HasSubstr("push 31 was acknowledged and never applied by node-1-11"))));
}

// Two servers of 2 and 3 pieces; the worker dies in the push of lease 1, of 4 samples, and others finish it in two parts.
class Half {
 public:
  Half() {
    written_.generation(1);
    written_.joined({kServer, kOther, kWorker}, {});
    written_.part(kServer, {.worker = "2", .id = 1, .lease = 1, .samples = 4, .pieces = 1, .all = 2});
  }
  void finish(std::int64_t id, std::int64_t samples, std::int64_t pieces_here, std::int64_t pieces_there) {
    written_.part(kServer, {.worker = "1", .id = id, .lease = 1, .samples = samples, .pieces = pieces_here, .all = 2});
    written_.part(kOther, {.worker = "1", .id = id, .lease = 1, .samples = samples, .pieces = pieces_there, .all = 3});
  }
  void use(std::int64_t begin, std::int64_t end) { written_.used_of(1, begin, end); }
  std::vector<std::string> violations() const { return written_.violations(); }

 private:
  Written written_;
};

TEST(LeaseCheck, WhatOthersFinishIsWhole) {
  Half half;
  EXPECT_THAT(half.violations(), IsEmpty());
  half.finish(2, 3, 1, 3);
  half.use(0, 3);
  EXPECT_THAT(half.violations(), IsEmpty()) << "it is not over";
  half.finish(3, 1, 1, 3);
  half.use(3, 4);
  EXPECT_THAT(half.violations(), IsEmpty());
}

TEST(LeaseCheck, FindsALostPushThatWasDoneAgainInPiecesThatHadIt) {
  Half half;
  half.finish(2, 4, 2, 3);
  half.use(0, 4);
  EXPECT_THAT(half.violations(),
              testing::ElementsAre(AllOf(StartsWith("I3 node-0-10"),
                                         HasSubstr("the 4 samples of lease 1 were applied 12 times to its 2 pieces, not 8 times"))));
}

TEST(LeaseCheck, FindsALostPushThatCountsThoughPiecesLackIt) {
  Half half;
  half.finish(2, 4, 1, 2);
  half.use(0, 4);
  EXPECT_THAT(half.violations(), testing::ElementsAre(AllOf(StartsWith("I3 node-1-11"), HasSubstr("8 times to its 3 pieces, not 12"))));
}

TEST(LeaseCheck, FindsACommitOfMoreThanWasUsed) {
  Written history = good();
  history.commit(4, 11);
  EXPECT_THAT(history.violations(), Contains(HasSubstr("a commit of a step that no node has done")));
}

TEST(LeaseCheck, StepsAreLeases) {
  const fs::path folder = fs::path(testing::TempDir()) / fmt::format("trireme_standing_{}", ::getpid());
  write_file_atomically(folder / "node-0-1.jsonl", R"({"type":"joined","generation":1,"step":4,"time":1})"
                                                   "\n"
                                                   R"({"type":"used","generation":1,"time":2})"
                                                   "\n"
                                                   R"({"type":"joined","generation":2,"step":5,"time":3})"
                                                   "\n"
                                                   R"({"type":"used","generation":2,"time":4.5})"
                                                   "\n");
  const History history = read_history(folder);
  fs::remove_all(folder);
  EXPECT_EQ(standing(history).step, 6);
  const Recovery found = recovery(history, 2.5, 1);
  EXPECT_EQ(found.recovered, 2.0);
  EXPECT_EQ(found.lost_steps, 0);
}

}  // namespace
}  // namespace trireme::tests
