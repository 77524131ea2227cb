// SPDX-License-Identifier: Apache-2.0
// Who may do what at a training's coordinator: every method and stream, tried by every role.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <map>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/coord/coordinator.h"
#include "trireme/rpc/authority.h"
#include "trireme/rpc/channel.h"
#include "trireme/train/conductor/conductor.h"
#include "trireme/train/staging/staging.h"

namespace trireme::train {
namespace {

constexpr Seconds kPatience{10};

// What each is answered. A node that has not said hello is no member, so nothing but hello is for it yet.
struct Answers {
  ErrorCode stranger_node;  // of the right authority, but not here
  ErrorCode coordinator;
  ErrorCode user = permission_denied;  // who has the job's secret
};

// A new method or stream needs a row: who may use it is to be decided, not to happen.
const std::map<std::string, Answers> kTable{
    {"ping", {ok, ok, ok}},
    {"membership", {ok, permission_denied}},
    {"store_set", {failed_precondition, permission_denied}},
    {"store_get", {failed_precondition, permission_denied}},
    {"put_checkpoint", {failed_precondition, permission_denied}},
    {"get_checkpoint", {failed_precondition, permission_denied}},
    {"data_manifest", {failed_precondition, permission_denied}},
    {"data_file", {failed_precondition, permission_denied}},
    {"switch", {permission_denied, permission_denied, data_loss}},  // asked for nothing that it understands
};
const std::vector<std::string> kStreams{"membership"};

class Roles : public testing::Test {
 protected:
  rpc::Credentials credentials(const std::string& role) const { return authority_.issue({.role = role, .name = "0"}, {}, Seconds{3600}); }

  coord::Coordinator::Options options() {
    coord::Coordinator::Options out;
    out.addresses = {"127.0.0.1"};
    out.credentials = credentials("coordinator");
    out.methods = staging_methods({});
    for (coord::Coordinator::Method& method : conductor_.methods()) out.methods.push_back(std::move(method));
    return out;
  }

  rpc::Channel channel(const rpc::Credentials& with) const {
    return rpc::Channel::connect(coordinator_.addresses().front(), with, kPatience);
  }

  static ErrorCode code_of_call(rpc::Channel& channel, const std::string& name) {
    // A stamp (generation, ticket), then nothing.
    try {
      channel.call(name, std::string(16, '\0'), kPatience);
      return ok;
    } catch (const Error& error) {
      return error.code();
    }
  }

  // `ok` if the stream is still open after a moment.
  static ErrorCode code_of_stream(rpc::Channel& channel, const std::string& name) {
    std::promise<ErrorCode> closed;
    auto code = closed.get_future();
    const auto session = channel.open_session(
        name, {.received = [](const std::string&) {}, .closed = [&](const Error& why) { closed.set_value(why.code()); }});
    const bool open = code.wait_for(std::chrono::milliseconds(300)) == std::future_status::timeout;
    session->close(Error{ok, "done"});
    const ErrorCode why = code.get();
    return open ? ok : why;
  }

  static ErrorCode code_of(rpc::Channel& channel, const std::string& name) {
    const bool is_stream = std::ranges::find(kStreams, name) != kStreams.end();
    return is_stream ? code_of_stream(channel, name) : code_of_call(channel, name);
  }

  const rpc::Authority authority_ = rpc::Authority::create();
  const SteadyClock clock_{};
  Conductor conductor_{1 << 20, [](const Checkpoint&) { return CheckpointRecord{}; }, clock_};
  coord::Coordinator coordinator_{options()};
};

TEST_F(Roles, EveryEndpointStandsInTheTable) {
  std::vector<std::string> names;
  for (const auto& [name, answers] : kTable) names.push_back(name);
  EXPECT_THAT(coordinator_.endpoints(), testing::UnorderedElementsAreArray(names));
}

TEST_F(Roles, EveryEndpointAnswersEveryRoleAsTheTableSays) {
  rpc::Channel node = channel(credentials("node"));
  rpc::Channel coordinator = channel(credentials("coordinator"));
  rpc::Channel user = channel(credentials("user"));
  for (const std::string& name : coordinator_.endpoints()) {
    ASSERT_TRUE(kTable.contains(name)) << name;
    EXPECT_EQ(name_of(code_of(node, name)), name_of(kTable.at(name).stranger_node)) << name;
    EXPECT_EQ(name_of(code_of(coordinator, name)), name_of(kTable.at(name).coordinator)) << name;
    EXPECT_EQ(name_of(code_of(user, name)), name_of(kTable.at(name).user)) << name;
  }
}

TEST_F(Roles, OthersDontGetPastTheDoor) {
  EXPECT_THAT(thrown_error([&] { channel(credentials("visitor")); }), testing::StartsWith("permission_denied"));
  EXPECT_THAT(thrown_error([&] { channel({.authority = authority_.certificate(), .certificate = {}, .key = {}}); }),
              testing::StartsWith("unauthenticated"));
  const rpc::Credentials of_another_job = rpc::Authority::create().issue({.role = "node", .name = "0"}, {}, Seconds{3600});
  EXPECT_THAT(thrown_error([&] { channel(of_another_job); }), testing::StartsWith("unauthenticated"));
}

}  // namespace
}  // namespace trireme::train
