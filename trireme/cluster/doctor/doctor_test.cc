// SPDX-License-Identifier: Apache-2.0
// Tests of the doctor's words, and of its agent.
#include "trireme/cluster/doctor/doctor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "trireme/base/json.h"
#include "trireme/cluster/doctor/doctor_agent.h"

namespace trireme::cluster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Machines h1, h2 ... with nothing to complain about.
Examination healthy(std::size_t count) {
  Examination examination;
  for (std::size_t i = 0; i < count; ++i) {
    MachineCheck check;
    check.machine.name = fmt::format("h{}", i + 1);
    check.machine.address = fmt::format("10.0.0.{}", i + 1);
    check.facts = MachineFacts{.cpu = "CPU",
                               .cores = 4,
                               .memory = std::int64_t{8} << 30,
                               .free_memory = std::int64_t{6} << 30,
                               .free_disk = std::int64_t{9} << 30,
                               .load = 0.1,
                               .vector_extensions = "avx2",
                               .congestion_control = "cubic",
                               .kernel = "6.1"};
    examination.machines.push_back(check);
  }
  for (std::size_t from = 0; from < count; ++from)
    for (std::size_t to = 0; to < count; ++to)
      if (from != to)
        examination.links.push_back({.from = from,
                                     .to = to,
                                     .from_address = examination.machines[from].machine.address,
                                     .to_address = examination.machines[to].machine.address,
                                     .result = {.fault = {}, .words = {}, .round_trip = 2e-4, .bits_per_second = 9.4e8}});
  return examination;
}

LinkCheck& link(Examination& examination, std::size_t from, std::size_t to) {
  for (LinkCheck& check : examination.links)
    if (check.from == from && check.to == to) return check;
  return examination.links.at(0);
}

TEST(Doctor, HasNothingToSayAboutTheHealthy) {
  const Findings findings = judge(healthy(3));
  EXPECT_THAT(findings.problems, IsEmpty());
  EXPECT_THAT(findings.notes, IsEmpty());
}

TEST(Doctor, NamesTheBrokenPairAndTheRemedy) {
  Examination examination = healthy(3);
  link(examination, 0, 2).result = {.fault = "timeout", .words = "Connection timed out"};
  EXPECT_THAT(judge(examination).problems,
              ElementsAre(AllOf(HasSubstr("h1 can't connect to h3 (10.0.0.3)"), HasSubstr("on h3: sudo ufw allow from 10.0.0.1 "))));
}

TEST(Doctor, OneWallIsOneProblem) {
  Examination examination = healthy(3);
  link(examination, 0, 1).result.fault = link(examination, 2, 1).result.fault = "refused";
  examination.links.push_back(
      {.from = 0, .to = kHere, .from_address = "10.0.0.1", .to_address = "10.0.0.9", .result = {.fault = "timeout", .words = {}}});
  EXPECT_THAT(
      judge(examination).problems,
      ElementsAre(
          AllOf(HasSubstr("h1, h3 can't connect to h2"), HasSubstr("sudo ufw allow from 10.0.0.1; sudo ufw allow from 10.0.0.3")),
          AllOf(HasSubstr("h1 can't connect to this machine (10.0.0.9)"), HasSubstr("on this machine: sudo ufw allow from 10.0.0.1"))));
}

TEST(Doctor, OtherProblems) {
  Examination examination = healthy(3);
  examination.machines[0].error = "h1: the machine is there, but accepts none of our keys";
  examination.machines[0].facts.reset();
  examination.machines[1].clock_ahead = -100;
  examination.machines[2].facts->free_disk = 1000;
  EXPECT_THAT(judge(examination).problems, ElementsAre(HasSubstr("none of our keys"), HasSubstr("h2: its clock is 100.0 s behind ours"),
                                                       HasSubstr("h3: only 1000 B of disk are free")));
}

TEST(Doctor, Notes) {
  Examination examination = healthy(3);
  examination.machines[0].clock_ahead = 2;
  examination.machines[0].facts->congestion_control = "bbr";
  examination.machines[1].facts->vector_extensions = "avx512";
  examination.machines[1].machine.cores = 8;
  examination.machines[1].facts->load = 3;
  link(examination, 2, 1).result.bits_per_second = 8e7;
  const Findings findings = judge(examination);
  EXPECT_THAT(findings.problems, IsEmpty());
  EXPECT_THAT(findings.notes,
              ElementsAre(HasSubstr("h1: its clock is 2.0 s ahead of ours"), HasSubstr("h2: the cluster file says 8 cores, 4 can be used"),
                          HasSubstr("h2: it is busy"), HasSubstr("h3 to h2: only 80 Mbit/s, others 940 Mbit/s"),
                          HasSubstr("unlike CPUs (avx2: h1, h3; avx512: h2)"), HasSubstr("h1: TCP uses bbr")));
}

// What the agent answers to questions, without its mark.
std::vector<Json> answers(const std::string& questions) {
  std::istringstream in(questions);
  std::ostringstream out;
  serve_doctor(in, out, "/tmp");
  std::istringstream lines(out.str());
  std::vector<Json> answers;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with(kAgentMark));
    answers.push_back(parse_json(line.substr(kAgentMark.size())));
  }
  return answers;
}

TEST(DoctorAgent, Answers) {
  const std::vector<Json> given = answers("facts\ntime\nlisten 127.0.0.1 abc\nlisten 192.0.2.1 abc\nrun rm\n");
  ASSERT_EQ(given.size(), 5U);
  EXPECT_GE(given[0]["facts"]["cores"], 1);
  EXPECT_GT(given[1]["time"], 1.7e9);
  EXPECT_GT(given[2]["port"], 0);
  EXPECT_THAT(given[3]["error"], HasSubstr("is not one of its own addresses"));
  EXPECT_EQ(given[4]["error"], "unknown question");
}

TEST(DoctorAgent, Connects) {
  const LinkListener listener("127.0.0.1", "abc", std::chrono::seconds(20));
  const std::vector<Json> given =
      answers(fmt::format("connect 127.0.0.1 {} abc 0\nconnect 127.0.0.1 {} abc 50\n", listener.port(), listener.port()));
  EXPECT_EQ(given.at(0)["fault"], "");
  EXPECT_EQ(given.at(0)["bits_per_second"], 0);
  EXPECT_GT(given.at(1)["bits_per_second"], 1e7);
}

}  // namespace
}  // namespace trireme::cluster
