// SPDX-License-Identifier: Apache-2.0
// Tests of servers that receive nonsense: only that stream is closed, with the reason.
#include <gmock/gmock.h>

#include "trireme/ps/testing/cluster.h"
#include "trireme/rpc/testing/bulk_diary.h"

namespace trireme::ps {
namespace {

using testing::HasSubstr;

constexpr double kRate = 0.05;

class StrangersTest : public testing::Test {
 protected:
  StrangersTest() : cluster_({.workers = 2}) { cluster_.begin({.begin = 0, .end = 100, .batch_size = 10, .workers = 2}); }

  // What a peer of this name receives at the end, who says this after (or without) hello.
  std::string end_of(const std::string& name, const Frame& frame, std::size_t body = 0, bool hello = true, char fill = 'x') {
    rpc::Diary diary;
    const auto session = rpc::bulk_pair(
        diary.listener(), [&](std::shared_ptr<rpc::BulkSession> other) { return cluster_.hosts[1]->server.open(name, std::move(other)); });
    if (hello) session->send({.head = head_of({.kind = Kind::hello, .generation = 1})});
    session->send({.head = head_of(frame) + std::string(body, fill)});
    if (diary.rest().empty()) session->close({ok, "nothing was wrong"});
    return diary.next();
  }
  Frame push() const {
    return {.kind = Kind::push,
            .piece = static_cast<std::uint32_t>(first()),
            .id = 7,
            .end = cluster_.map->pieces()[first()].size(),
            .rate = kRate,
            .samples = 1};
  }
  std::size_t first() const { return cluster_.map->pieces_of(1).front(); }
  std::size_t body() const { return static_cast<std::size_t>(cluster_.map->pieces()[first()].size()) * 4; }

  Cluster cluster_;
};

TEST_F(StrangersTest, AreSentAwayWithTheReasonAndHarmNoOther) {
  const std::vector<float> before = cluster_.values();
  Frame wrong = push();
  EXPECT_THAT(end_of("w0", wrong, body(), false), HasSubstr("failed_precondition: worker 'w0' must say hello before anything else"));
  EXPECT_THAT(end_of("w0", wrong, body() - 4), HasSubstr("data_loss: a message with"));
  EXPECT_THAT(end_of("w0", wrong, body() + 4), HasSubstr("data_loss: a message with"));
  wrong.piece = static_cast<std::uint32_t>(cluster_.map->pieces().size());
  EXPECT_THAT(end_of("w0", wrong, body()), HasSubstr("which server 1 does not have"));
  wrong.piece = static_cast<std::uint32_t>(cluster_.map->pieces_of(0).front());
  EXPECT_THAT(end_of("w0", wrong, body()), HasSubstr("which server 1 does not have"));
  wrong = push();
  wrong.end += 1;
  EXPECT_THAT(end_of("w0", wrong, body() + 4), HasSubstr("invalid_argument: worker 'w0' sent values 0 to"));
  wrong = push();
  wrong.begin = 1;
  EXPECT_THAT(end_of("w0", wrong, body() - 4), HasSubstr("of a push without those before"));
  wrong = push();
  wrong.version = 1;
  EXPECT_THAT(end_of("w0", wrong, body()), HasSubstr("invalid_argument: a push was computed with version 1"));
  wrong = push();
  wrong.id = 0;
  EXPECT_THAT(end_of("w0", wrong, body()), HasSubstr("sent push 0"));
  wrong = push();
  wrong.samples = 0;
  EXPECT_THAT(end_of("w0", wrong, body()), HasSubstr("with 0 samples"));
  EXPECT_THAT(end_of("w0", push(), body(), true, '\xff'), HasSubstr("out_of_range: worker 'w0' pushed gradients to piece"));  // NaN
  EXPECT_THAT(end_of("w9", push(), body()), HasSubstr("permission_denied: 'w9' is not a node of generation 1"));
  EXPECT_THAT(end_of("w0", {.kind = Kind::hello, .generation = 2}, 0, false), HasSubstr("is of generation 2, but it is 1 now"));
  EXPECT_THAT(end_of("w0", {.kind = Kind::hello, .generation = 1}), HasSubstr("said hello twice"));
  EXPECT_THAT(end_of("w0", {.kind = Kind::fetch, .piece = push().piece, .slot = 1}), HasSubstr("asks for slot 1; there are 1"));
  EXPECT_THAT(end_of("w0", {.kind = Kind::fetch, .piece = push().piece, .slot = -2}), HasSubstr("asks for slot -2"));
  EXPECT_THAT(end_of("w0", {.kind = Kind::ask}), HasSubstr("server 1 for work, which has none"));
  EXPECT_THAT(end_of("w0", {.kind = Kind::values}), HasSubstr("which only servers send"));
  EXPECT_THAT(end_of("w0", {.kind = static_cast<Kind>(99)}), HasSubstr("data_loss: there is no frame of kind 99"));
  EXPECT_EQ(cluster_.values(), before);
  // The others have noticed nothing; the one whose name was used has to connect again.
  cluster_.connect(*cluster_.workers[0]);
  cluster_.run([](Worker& worker, std::size_t) { worker.work(kRate); });
  EXPECT_TRUE(cluster_.hosts[0]->server.used() >= 90);
}

TEST_F(StrangersTest, APieceCannotBeSentTwiceOnAStream) {
  rpc::Diary diary;
  const auto session = rpc::bulk_pair(
      diary.listener(), [&](std::shared_ptr<rpc::BulkSession> other) { return cluster_.hosts[1]->server.open("w0", std::move(other)); });
  session->send({.head = head_of({.kind = Kind::hello, .generation = 1})});
  session->send({.head = head_of(push()) + std::string(body(), '\0')});
  EXPECT_EQ(diary.next().size(), kFrameBytes + body());
  session->send({.head = head_of(push()) + std::string(body(), '\0')});
  EXPECT_THAT(diary.next(), HasSubstr("twice on one stream"));
}

TEST_F(StrangersTest, NoWorkerPushesAfterItHasRetired) {
  rpc::Diary diary;
  const auto session = rpc::bulk_pair(
      diary.listener(), [&](std::shared_ptr<rpc::BulkSession> other) { return cluster_.hosts[1]->server.open("w0", std::move(other)); });
  session->send({.head = head_of({.kind = Kind::hello, .generation = 1})});
  session->send({.head = head_of({.kind = Kind::retire})});
  session->send({.head = head_of(push()) + std::string(body(), '\0')});
  EXPECT_THAT(diary.next(), HasSubstr("worker 'w0' has retired from this stretch and pushes again"));
}

TEST(Frames, AreWhatTheyWere) {
  const Frame frame{.kind = Kind::done, .piece = 3, .id = 5, .lease = 9, .round = 2, .rate = 0.5, .staleness = 4};
  std::string seen;
  const auto session = rpc::bulk_pair({}, [&](auto) {
    return rpc::BulkListener{.received = [&](const rpc::Incoming& message) { seen = head_of(frame_of(message)); }, .closed = {}};
  });
  session->send({.head = head_of(frame)});
  EXPECT_EQ(seen, head_of(frame));
}

}  // namespace
}  // namespace trireme::ps
