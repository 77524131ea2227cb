// SPDX-License-Identifier: Apache-2.0
// For tests: writes the files of a run as a training of known numbers would have.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "trireme/base/files.h"
#include "trireme/observe/journal.h"
#include "trireme/observe/journal_version.h"

namespace trireme::report {

class MadeRun {
 public:
  MadeRun()
      : folder_(std::filesystem::temp_directory_path() /
                ("trireme_report_" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "steps");
    write_file_atomically(folder_ / "config.toml", "[train]\nbatch_size = 8   # job.toml:3\nseed = 1 # default\n");
  }
  ~MadeRun() { std::filesystem::remove_all(folder_); }
  MadeRun(const MadeRun&) = delete;
  MadeRun& operator=(const MadeRun&) = delete;

  const std::filesystem::path& path() const { return folder_; }

  void journal(double time, std::string_view type, const observe::Fields& fields) const { write("journal.jsonl", time, type, fields); }
  void telemetry(double time, std::string_view type, const observe::Fields& fields) const { write("telemetry.jsonl", time, type, fields); }
  void append(const std::string& file, std::string_view text) const {
    std::filesystem::create_directories((folder_ / file).parent_path());
    OutputFile(folder_ / file, OutputFile::Mode::append).write(text);
  }

  void begin(double time, std::int64_t workers = 1, std::string_view plan = {}) const {
    journal(time, "run",
            {{"trireme", "0.1.0"},
             {"journal", observe::kJournalVersion},
             {"job", "job"},
             {"model", "mlp"},
             {"data", "digits"},
             {"parameters", std::int64_t{1000}},
             {"samples", std::int64_t{80}},
             {"validation_samples", std::int64_t{20}},
             {"batch_size", std::int64_t{8}},
             {"epochs", std::int64_t{2}},
             {"threads", std::int64_t{1}},
             {"workers", workers},
             {"seed", std::int64_t{1}},
             {"host", "lab1"}});
    if (!plan.empty())
      journal(time, "generation",
              {{"generation", std::int64_t{1}}, {"workers", workers}, {"hosts", "lab1 lab2"}, {"plan", std::string(plan)}});
  }
  // Takes 0.1 s up to `time`.
  // Ten per second after `start`.
  void steps(std::int64_t first, std::int64_t last, double start, double loss = 1) const {
    for (std::int64_t number = first; number <= last; ++number) step(start + 0.1 * static_cast<double>(number - first + 1), number, loss);
  }
  void step(double time, std::int64_t step, double loss = 1) const {
    journal(time, "step",
            {{"step", step},
             {"epoch", (step - 1) / 10 + 1},
             {"samples_seen", step * 8},
             {"samples", std::int64_t{8}},
             {"loss", loss},
             {"accuracy", 0.5},
             {"learning_rate", 0.1},
             {"seconds", 0.1},
             {"input_wait_seconds", 0.01},
             {"compute_seconds", 0.06},
             {"exposed_seconds", 0.02},
             {"exchange_seconds", 0.05},
             {"optimizer_seconds", 0.01}});
  }
  void epoch(double time, std::int64_t epoch, double accuracy) const {
    journal(time, "epoch",
            {{"epoch", epoch},
             {"step", epoch * 10},
             {"samples", std::int64_t{80}},
             {"loss", 1 - accuracy},
             {"penalty", 0.25},
             {"accuracy", accuracy},
             {"seconds", 1.0},
             {"samples_per_second", 80.0},
             {"validation_loss", 1.5 - accuracy},
             {"validation_accuracy", accuracy - 0.1}});
  }
  void end(double time, std::string_view reason = "completed") const {
    journal(time, "end", {{"epochs", std::int64_t{2}}, {"steps", std::int64_t{20}}, {"seconds", 2.0}, {"reason", std::string(reason)}});
  }
  void machine(double time, std::string_view host, double cpu_user, double memory, bool is_baseline = false) const {
    observe::Fields fields{{"host", std::string(host)},
                           {"node", "0"},
                           {"seconds", 1.0},
                           {"cores", std::int64_t{host == "lab1" ? 1 : 3}},
                           {"cpu_user", cpu_user},
                           {"cpu_system", 0.1},
                           {"cpu_wait", 0.0},
                           {"cpu_idle", 0.9 - cpu_user},
                           {"load", 1.0},
                           {"memory_bytes", memory},
                           {"memory_total_bytes", 1e9},
                           {"network_in_bytes", std::int64_t{1000}},
                           {"network_out_bytes", std::int64_t{2000}},
                           {"loopback_bytes", std::int64_t{0}}};
    if (is_baseline) fields.emplace_back("baseline", true);
    telemetry(time, "machine", fields);
  }
  // Ten steps of 0.1 s in a second.
  void node(double time, std::string_view node, double backward = 0.05) const {
    telemetry(time, "node",
              {{"node", std::string(node)},
               {"host", node == "0" ? "lab1" : "lab2"},
               {"rank", std::int64_t{node == "0" ? 0 : 1}},
               {"duty", "worker"},
               {"share", 0.5},
               {"cpu_user_seconds", 0.7},
               {"cpu_system_seconds", 0.1},
               {"memory_bytes", std::int64_t{1 << 20}},
               {"window_seconds", 1.0},
               {"bytes_sent", std::int64_t{40'000}},
               {"bytes_received", std::int64_t{40'000}},
               {"steps", std::int64_t{10}},
               {"samples", std::int64_t{40}},
               {"seconds", 1.0},
               {"input_wait_seconds", 0.05},
               {"forward_seconds", 0.2},
               {"backward_seconds", 10 * backward},
               {"exposed_seconds", 0.7 - 10 * backward},
               {"optimizer_seconds", 0.04},
               {"idle_seconds", 0.01},
               {"read_seconds", 0.2},
               {"decode_seconds", 0.1},
               {"exchange_seconds", 0.4}});
  }

 private:
  void write(const char* file, double time, std::string_view type, const observe::Fields& fields) const {
    const auto micros = std::chrono::microseconds(std::llround(time * 1e6));
    observe::Journal(folder_ / file, [micros] { return std::chrono::system_clock::time_point(micros); }).write(type, fields);
  }

  std::filesystem::path folder_;
};

}  // namespace trireme::report
