// SPDX-License-Identifier: Apache-2.0
// Tests of blueprints with their usual slips, the selections on the known example, and TF_CONFIG.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/json.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/cluster/inventory/inventory.h"
#include "trireme/cluster/inventory/selection.h"
#include "trireme/cluster/inventory/tf_config.h"

namespace trireme::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As it was printed: no comma after GPUS, bare yes and no, no comma between the last machines.
constexpr std::string_view kPrinted = R"({
 "connections": [
  { "IP": "147.102.19.131", "Password": "pas131",
    "GPUS": 0
    "energy efficient": yes },
  { "IP": "147.102.19.132", "Password": "pas132", "GPUS": 0 "energy efficient": yes },
  { "IP": "147.102.19.133", "Password": "pas133", "GPUS": 0 "energy efficient": no }
  { "IP": "147.102.19.4", "Password": "pas4", "GPUS": 1 "energy efficient": no }
  { "IP": "147.102.19.7", "Password": "pas7", "GPUS": 1 "energy efficient": no }
 ]
})";

std::vector<std::string> workers(Selection selection) {
  return worker_addresses(select(parse_blueprint(kPrinted, "blueprint.json"), selection), 2223);
}

TEST(Blueprint, GoldenSelections) {
  EXPECT_THAT(workers(Selection::gpus), ElementsAre("147.102.19.4:2223", "147.102.19.7:2223"));
  EXPECT_THAT(workers(Selection::cpus), ElementsAre("147.102.19.131:2223", "147.102.19.132:2223", "147.102.19.133:2223"));
  EXPECT_THAT(workers(Selection::all),
              ElementsAre("147.102.19.131:2223", "147.102.19.132:2223", "147.102.19.133:2223", "147.102.19.4:2223", "147.102.19.7:2223"));
  EXPECT_THAT(workers(Selection::energy), ElementsAre("147.102.19.131:2223", "147.102.19.132:2223"));
}

TEST(Blueprint, EachMendingIsReported) {
  const std::vector<std::string> warnings = parse_blueprint(kPrinted, "b.json").warnings;
  EXPECT_THAT(warnings, testing::Contains("b.json:5: a comma is missing; read as if it were there"));
  EXPECT_THAT(warnings, testing::Contains("b.json:5: the bare word yes is read as true"));
  EXPECT_THAT(warnings, testing::Contains("b.json:8: a comma is missing; read as if it were there").Times(2));
  EXPECT_THAT(warnings, testing::Contains(HasSubstr("b.json:3: passwords are ignored: machines are logged in to with ssh keys")).Times(1));
  EXPECT_EQ(warnings.size(), 5U + 2U + 5U + 1U);  // commas in and between machines, words, passwords
}

TEST(Blueprint, GoodJsonNeedsNoMending) {
  const Inventory inventory = parse_blueprint(
      R"({"connections": [{"IP": "10.0.0.1", "username": "ann", "gpus": "2", "energy_efficient": "yes", "port": 2200, "slots": 2},
                          {"ip": "fd00::2", "GPUS": 0, "energy efficient": false, "colour": "red"}]})",
      "b.json");
  EXPECT_EQ(inventory.machines[0].user, "ann");
  EXPECT_EQ(inventory.machines[0].gpus, 2);
  EXPECT_TRUE(inventory.machines[0].energy_efficient);
  EXPECT_EQ(inventory.machines[0].port, 2200);
  EXPECT_EQ(inventory.machines[1].address, "fd00::2");
  EXPECT_THAT(inventory.warnings, ElementsAre("b.json:2: \"colour\" is not known and ignored"));
}

TEST(Blueprint, TypographicQuotesAndSurplusCommas) {
  const Inventory inventory = parse_blueprint("{“connections”: [{“IP”: “h1”,},]}", "b.json");
  EXPECT_EQ(inventory.machines[0].address, "h1");
  EXPECT_THAT(inventory.warnings,
              ElementsAre(HasSubstr("typographic quotes"), HasSubstr("a comma before '}'"), HasSubstr("a comma before ']'")));
}

TEST(Blueprint, WhatCantBeMendedNamesTheLine) {
  const auto error = [](std::string_view text) { return thrown_error([&] { parse_blueprint(text, "b.json"); }); };
  EXPECT_THAT(error("{\"connections\": [\n{\"IP\": \"h1}]}"), HasSubstr("b.json:2: a closing quote is missing"));
  EXPECT_THAT(error("{\"connections\": [\n{\"IP\": \"h1\"}"), HasSubstr("b.json:2: the file ends too early"));
  EXPECT_THAT(error("{\"connections\": [\n{\"IP\" \"h1\"}]}"), HasSubstr("b.json:2: a colon must follow \"IP\""));
  EXPECT_THAT(error("{\"connections\": [\n{\"IP\": \"h1\", \"GPUS\": n1}]}"), HasSubstr("b.json:2: expected a whole number"));
  EXPECT_THAT(error("{\"connections\": [\n{\"IP\": \"h1\", \"GPUS\": -1}]}"), HasSubstr("b.json:2: \"GPUS\" is -1"));
  EXPECT_THAT(error("{\"connections\": [\n{\"IP\": \"h1\", \"energy efficient\": \"some\"}]}"), HasSubstr("b.json:2: expected yes or no"));
  EXPECT_THAT(error("{\"connections\": [\n{\"IP\": \"h;touch /tmp/p\"}]}"), HasSubstr("b.json:2: 'h;touch /tmp/p' is not a host name"));
  EXPECT_THAT(error("{\"connections\": [{\"IP\": \"h\"},\n{\"IP\": \"h\"}]}"), HasSubstr("b.json:2: machine h:22 stands there twice"));
  EXPECT_THAT(error("{\"connections\": []}"), HasSubstr("there is no machine in it"));
  EXPECT_THAT(error("{\"machines\": []}"), HasSubstr("the list \"connections\" is missing"));
  EXPECT_THAT(error(std::string(10000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(error(""), HasSubstr("b.json:1: "));
}

TEST(Selection, NoneSaysWhatThereIs) {
  const Inventory inventory = parse_hostfile("h1\nh2", "hosts");
  EXPECT_EQ(thrown_error([&] { select(inventory, Selection::gpus); }),
            "failed_precondition: --gpus: hosts has no machine with a GPU; it has h1 (0 GPUs), h2 (0 GPUs). Choose another selection, e.g. "
            "--all");
}

TEST(Selection, AnEfficientMachineWithGpusIsInBoth) {
  const Inventory inventory = parse_cluster_toml("[[machines]]\naddress='a'\ngpus=1\nenergy_efficient=true", "lab.toml");
  EXPECT_EQ(select(inventory, Selection::gpus).size(), 1U);
  EXPECT_EQ(select(inventory, Selection::energy).size(), 1U);
}

TEST(TfConfig, IsValidForEachWorker) {
  const std::vector<std::string> configs = tf_configs(select(parse_blueprint(kPrinted, "b.json"), Selection::gpus), 2223);
  ASSERT_EQ(configs.size(), 2U);
  EXPECT_EQ(configs[1], R"({"cluster":{"worker":["147.102.19.4:2223","147.102.19.7:2223"]},"task":{"index":1,"type":"worker"}})");
  EXPECT_EQ(parse_json(configs[0])["task"]["index"], 0);
}

TEST(TfConfig, SlotsAreWorkersOnFollowingPorts) {
  EXPECT_THAT(worker_addresses(parse_host_list("a:2,[fd00::1]").machines, 5000), ElementsAre("a:5000", "a:5001", "[fd00::1]:5000"));
  EXPECT_THAT(thrown_error([] { worker_addresses(parse_host_list("a:2").machines, 65535); }), HasSubstr("choose a lower --port"));
}

}  // namespace
}  // namespace trireme::cluster
