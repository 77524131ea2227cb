// SPDX-License-Identifier: Apache-2.0
// Tests of the journal and its reader: what is written is read, whatever a crash leaves is passed over.
#include "trireme/observe/journal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "trireme/base/files.h"
#include "trireme/base/testing/limited_files.h"
#include "trireme/base/testing/thrown_error.h"
#include "trireme/observe/append_file.h"
#include "trireme/observe/journal_reader.h"
#include "trireme/observe/journal_version.h"

namespace trireme::observe {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class JournalTest : public testing::Test {
 protected:
  JournalTest() { std::filesystem::create_directories(folder_); }
  ~JournalTest() override { std::filesystem::remove_all(folder_); }

  Journal open() {
    return Journal(path_, [this] { return std::chrono::system_clock::time_point(now_); });
  }
  void append(std::string_view text) const { OutputFile(path_, OutputFile::Mode::append).write(text); }
  std::string fault() const {
    return thrown_error([&] { read_journal(path_); });
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("trireme_journal_" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::filesystem::path path_ = folder_ / "journal.jsonl";
  std::chrono::milliseconds now_{1'700'000'000'250};
};

TEST_F(JournalTest, ALineIsOneObjectInTheGivenOrder) {
  open().write("epoch", {{"epoch", std::int64_t{3}},
                         {"loss", 0.1},
                         {"whole", 2.0},
                         {"best", true},
                         {"note", "a \"b\"\nc"},
                         {"gone", std::numeric_limits<double>::quiet_NaN()}});
  EXPECT_EQ(read_file(path_),
            R"({"type":"epoch","time":1700000000.25,"epoch":3,"loss":0.1,"whole":2.0,"best":true,"note":"a \"b\"\nc","gone":null})"
            "\n");
}

TEST_F(JournalTest, ReadsWhatWasWritten) {
  open().write("epoch", {{"epoch", std::numeric_limits<std::int64_t>::min()},
                         {"loss", 0.1},
                         {"whole", 2.0},
                         {"best", true},
                         {"note", "ü"},
                         {"gone", -std::numeric_limits<double>::infinity()}});
  const std::vector<Record> records = read_journal(path_);
  ASSERT_EQ(records.size(), 1U);
  const Record& record = records.front();
  EXPECT_EQ(record.type, "epoch");
  EXPECT_EQ(record.time, 1'700'000'000.25);
  EXPECT_EQ(record.fields.size(), 6U);
  EXPECT_EQ(record.integer("epoch"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(record.real("loss"), 0.1);
  EXPECT_EQ(record.real("whole"), 2.0);
  EXPECT_TRUE(std::get<bool>(*record.find("best")));
  EXPECT_EQ(record.text("note"), "ü");
  EXPECT_TRUE(std::isnan(record.real("gone")));
  EXPECT_EQ(thrown_error([&] { record.integer("loss"); }), "data_loss: field 'loss' of a record 'epoch' of the journal is no whole number");
  EXPECT_EQ(thrown_error([&] { record.text("los"); }), "data_loss: a record 'epoch' of the journal has no field 'los'");
}

TEST_F(JournalTest, StepsWaitForASecondOrAnotherRecord) {
  Journal journal = open();
  const auto lines = [&] { return read_journal(path_).size(); };
  journal.write("step", {});
  now_ += std::chrono::milliseconds(999);
  journal.write("step", {});
  EXPECT_EQ(lines(), 0U);
  now_ += std::chrono::milliseconds(1);
  journal.write("step", {});
  EXPECT_EQ(lines(), 3U);
  journal.write("step", {});
  EXPECT_EQ(lines(), 3U);
  journal.write("epoch", {});
  EXPECT_EQ(lines(), 5U);
  journal.write("step", {});
  journal.sync();
  EXPECT_EQ(lines(), 6U);
  now_ -= std::chrono::hours(1);
  journal.write("step", {});
  EXPECT_EQ(lines(), 7U) << "a clock that was set back must not hold steps for an hour";
  journal.write("step", {});
  { const Journal moved = std::move(journal); }
  EXPECT_EQ(lines(), 8U);
}

TEST_F(JournalTest, EveryCutOfALineIsPassedOver) {
  open().write("run",
               {{"model", "ü\"\\"}, {"loss", -1.5e-7}, {"on", true}, {"off", false}, {"none", std::nan("")}, {"n", std::int64_t{12}}});
  const std::string line = read_file(path_);
  for (std::size_t length = 1; length + 1 < line.size(); ++length) {
    std::filesystem::remove(path_);
    open().write("first", {});
    append(line.substr(0, length));
    std::int64_t cut = -1;
    ASSERT_EQ(read_journal(path_, &cut).size(), 1U) << length;
    ASSERT_EQ(cut, 1) << length;
    open().write("last", {});
    const auto records = read_journal(path_, &cut);
    ASSERT_EQ(records.size(), 2U) << length;
    ASSERT_EQ(records.back().type, "last") << length;
    ASSERT_EQ(cut, 1) << length;
  }
}

TEST_F(JournalTest, ALineThatOnlyLacksItsEndCounts) {
  append(R"({"type":"a","time":1})");
  open().write("b", {});
  EXPECT_EQ(read_journal(path_).size(), 2U);
}

TEST_F(JournalTest, ZerosOfAPowerFailureArePassedOver) {
  open().write("a", {});
  append(R"({"type":)" + std::string(100, '\0'));
  open().write("b", {});
  std::int64_t cut = 0;
  EXPECT_EQ(read_journal(path_, &cut).size(), 2U);
  EXPECT_EQ(cut, 1);
}

TEST_F(JournalTest, OtherLinesAreFaultsWithTheirNumber) {
  for (const auto& [line, why] : std::vector<std::pair<std::string, std::string>>{
           {"hello", "no JSON at its character 1"},
           {R"({"type":"a","time":1}})", "no JSON at its character 22"},
           {R"({"type":"a" "time":1})", "no JSON at its character 18"},
           {"[1]", "no object"},
           {"[1", "no JSON at its character 3"},
           {R"({"time":1})", "no type"},
           {R"({"type":"a"})", "no time"},
           {R"({"type":"a","time":1,"x":[1]})", "field 'x' is a list or an object"},
           {R"({"type":"a","time":1,"x":18446744073709551615})", "field 'x' is beyond 63 bits"}}) {
    std::filesystem::remove(path_);
    open().write("first", {});
    append(line + "\n");
    open().write("last", {});
    EXPECT_EQ(fault(), fmt::format("data_loss: {}:2: not a record of a journal: {}", path_.string(), why));
  }
}

// A run of a month has a journal of gigabytes.
TEST_F(JournalTest, IsReadALineAtATime) {
  std::string lines;
  for (int i = 0; i < 20'000; ++i)
    lines += fmt::format("{{\"type\": \"step\", \"time\": 1.5, \"step\": {}, \"note\": \"{:0100}\"}}\n", i, i);
  append(lines);
  const std::size_t before = ::mallinfo2().uordblks;
  std::size_t most = 0;
  std::int64_t last = -1;
  EXPECT_EQ(for_each_record(path_,
                            [&](const Record& record) {
                              EXPECT_EQ(record.integer("step"), ++last);
                              most = std::max(most, ::mallinfo2().uordblks);
                            }),
            0);
  EXPECT_EQ(last, 19'999);
  EXPECT_LT(most, before + lines.size() / 4);
}

TEST_F(JournalTest, ALineWithoutEndIsRefusedBeforeItIsAllInMemory) {
  append("{\"type\": \"" + std::string(3 * kMaxLineBytes, 'x'));
  EXPECT_THAT(fault(), testing::HasSubstr("journal.jsonl:1: not a record of a journal: it is longer than 1048576 bytes"));
}

TEST_F(JournalTest, FlushedStepsAreInTheFile) {
  Journal journal = open();
  journal.write("step", {{"step", std::int64_t{1}}});
  EXPECT_TRUE(read_journal(path_).empty());
  journal.flush();
  EXPECT_EQ(read_journal(path_).size(), 1U);
}

TEST_F(JournalTest, ANameThatIsNoTextDoesNotStopATraining) {
  open().write("run", {{"job", "caf\xe9.toml"}});
  EXPECT_EQ(read_journal(path_).front().text("job"), "caf\xef\xbf\xbd.toml");
}

TEST_F(JournalTest, AFullDiskIsReportedAndLaterRecordsAreWhole) {
  Journal journal = open();
  journal.write("first", {});
  {
    const LimitedFiles full(100);
    EXPECT_EQ(thrown_error([&] {
                journal.write("lost", {{"text", std::string(200, 'x')}});
              }),
              "resource_exhausted: cannot write " + path_.string() + ": File too large");
  }
  journal.write("last", {});
  std::int64_t cut = 0;
  EXPECT_EQ(read_journal(path_, &cut).size(), 2U);
  EXPECT_EQ(cut, 0);
}

TEST_F(JournalTest, WithAWatchRecordsWaitForTheDisk) {
  struct Watch final : AppendWatch {
    void on_refused(const std::filesystem::path& /*file*/, const Error& /*why*/) override { ++refused; }
    void on_lost(const std::filesystem::path& /*file*/, std::int64_t records) override { lost += records; }
    void on_written(const std::filesystem::path& /*file*/) override { ++written; }
    int refused = 0, written = 0;
    std::int64_t lost = 0;
  } watch;
  append(R"({"type":"cut)");  // by a crash
  Journal journal(path_, std::chrono::system_clock::now, &watch);
  {
    const LimitedFiles full(40);
    journal.write("epoch", {});
    journal.write("step", {});
    EXPECT_TRUE(journal.is_behind());
    journal.write("checkpoint", {});
    journal.sync();
    EXPECT_TRUE(journal.is_behind());
  }
  journal.flush();
  EXPECT_FALSE(journal.is_behind());
  std::vector<std::string> types;
  std::int64_t cut = 0;
  for (const Record& record : read_journal(path_, &cut)) types.push_back(record.type);
  EXPECT_THAT(types, testing::ElementsAre("epoch", "step", "checkpoint"));
  EXPECT_EQ(cut, 1);
  EXPECT_EQ(watch.refused, 1);
  EXPECT_EQ(watch.written, 1);
  EXPECT_EQ(watch.lost, 0);
}

TEST_F(JournalTest, AFolderThatIsNotThereIsNamed) {
  EXPECT_THAT(thrown_error([&] { Journal(folder_ / "absent" / "journal.jsonl"); }),
              EndsWith("absent/journal.jsonl: No such file or directory"));
}

Record upgraded(JournalUpgrade& upgrade, std::string_view line) {
  Record record = parse_record(line).value();
  upgrade.apply(record);
  return record;
}

// A run of version 1 that goes on with this Trireme has both in one file.
TEST(JournalUpgrade, ARunThatGoesOnHasTheNamesOfBothVersions) {
  JournalUpgrade upgrade;
  upgraded(upgrade, R"({"type":"run","time":1.0,"trireme":"0.1.0"})");
  const Record old = upgraded(upgrade, R"({"type":"epoch","time":2.0,"wait_seconds":1.0,"exchange_seconds":2.0,"hidden_seconds":3.0})");
  EXPECT_EQ(old.real("input_wait_seconds"), 1);
  EXPECT_EQ(old.real("exposed_seconds"), 2);
  EXPECT_EQ(old.real("exchange_seconds"), 5);
  EXPECT_EQ(old.find("hidden_seconds"), nullptr);
  upgraded(upgrade, R"({"type":"resume","time":3.0,"journal":2,"step":1})");
  const Record now = upgraded(upgrade, R"({"type":"step","time":4.0,"exposed_seconds":2.0,"exchange_seconds":5.0})");
  EXPECT_EQ(now.real("exposed_seconds"), 2);
  EXPECT_EQ(now.real("exchange_seconds"), 5);
}

TEST(JournalUpgrade, RefusesAVersionThatItDoesNotKnow) {
  JournalUpgrade upgrade;
  EXPECT_THAT(thrown_error([&] { upgraded(upgrade, R"({"type":"run","time":1.0,"journal":3})"); }), HasSubstr("reads versions 1 to 2"));
  EXPECT_THAT(thrown_error([&] { upgraded(upgrade, R"({"type":"run","time":1.0,"journal":0})"); }), HasSubstr("no journal of version 0"));
}

}  // namespace
}  // namespace trireme::observe
