// SPDX-License-Identifier: Apache-2.0
// Who holds parameters and who computes, as nodes come and go.
#include "trireme/train/servers/server_roles.h"

#include <gmock/gmock.h>

namespace trireme::train {
namespace {

using testing::ElementsAre;

TEST(ServerRoles, OfTheirOwnMachines) {
  const ServerRoles roles = plan_roles({.servers = 2}, 8);
  EXPECT_THAT(roles.servers, ElementsAre(0, 1));
  EXPECT_THAT(roles.workers, ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_EQ(roles.server_of(1), 1);
  EXPECT_EQ(roles.worker_of(1), -1);
  EXPECT_EQ(roles.worker_of(3), 1);
}

TEST(ServerRoles, BesideWorkers) {
  const ServerRoles roles = plan_roles({.servers = 0, .shared = true}, 5);
  EXPECT_THAT(roles.servers, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(roles.workers, ElementsAre(0, 1, 2, 3, 4));
}

TEST(ServerRoles, AtLeastOneNodeComputes) {
  EXPECT_THAT(plan_roles({.servers = 2}, 2).servers, ElementsAre(0));
  EXPECT_THAT(plan_roles({.servers = 2}, 2).workers, ElementsAre(1));
  EXPECT_THAT(plan_roles({.servers = 2}, 1).workers, ElementsAre(0));
}

TEST(ServerRoles, WhoHoldsParametersKeepsThem) {
  // Node 0 came back; 1 and 3 hold what was handed out in generation 4, 2 something older.
  const ServerRoles roles = choose_roles({.servers = 2}, {{}, {4, 1, 2}, {3, 0, 2}, {4, 0, 2}});
  EXPECT_TRUE(roles.resumes);
  EXPECT_THAT(roles.servers, ElementsAre(3, 1));
  EXPECT_THAT(roles.workers, ElementsAre(0, 2));
}

TEST(ServerRoles, OneOfThemMissingMeansAllAnew) {
  const ServerRoles roles = choose_roles({.servers = 2}, {{}, {4, 1, 2}, {3, 0, 2}});
  EXPECT_FALSE(roles.resumes);
  EXPECT_THAT(roles.servers, ElementsAre(0, 1));
}

TEST(ServerRoles, AServerThatSleptWhileOthersWentOnHoldsNothing) {
  // Node 0 was stopped in generation 1 in the middle of its work; the others met in generation 2, and hold all of its state themselves.
  const ServerRoles roles = choose_roles({.servers = 1}, {{.lineage = 1, .server = 0, .servers = 1, .seen = 1}, {.seen = 2}, {.seen = 2}});
  EXPECT_FALSE(roles.resumes);
  EXPECT_TRUE(choose_roles({.servers = 1}, {{.lineage = 1, .server = 0, .servers = 1, .seen = 2}, {.seen = 2}, {.seen = 1}}).resumes);
}

TEST(ServerRoles, IfOnlyServersAreLeftTheyComputeToo) {
  const ServerRoles roles = choose_roles({.servers = 2}, {{4, 0, 2}, {4, 1, 2}});
  EXPECT_TRUE(roles.resumes);
  EXPECT_THAT(roles.workers, ElementsAre(0, 1));
}

}  // namespace
}  // namespace trireme::train
