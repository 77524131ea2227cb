// SPDX-License-Identifier: Apache-2.0
// Samples of a made-up machine, to the number, and of this one, as far as it can be known.
#include "trireme/observe/machine_sampler.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace trireme::observe {
namespace {

namespace fs = std::filesystem;
using testing::DoubleNear;

class MadeUpMachine : public testing::Test {
 protected:
  MadeUpMachine() : root_(fs::path(testing::TempDir()) / ("trireme_machine_" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "sys/block/sda");
    fs::create_directories(root_ / "sys/block/dm-0");
    write("proc/stat", "cpu  100 0 50 800 10 0 0 0 0 0\ncpu0 50 0 25 400 5 0 0 0 0 0\ncpu1 50 0 25 400 5 0 0 0 0 0\nintr 12\n");
    write("proc/meminfo", "MemTotal:       8000 kB\nMemFree:  100 kB\nMemAvailable:   3000 kB\n");
    write("proc/loadavg", "1.50 1.00 0.50 2/345 6789\n");
    write_network(1000, 2000, 500);
    write_disk(10, 20);
  }
  ~MadeUpMachine() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void write_network(int in, int out, int loopback) const {
    const auto line = [](const std::string& name, int received, int sent) {
      return "  " + name + ": " + std::to_string(received) + " 1 0 0 0 0 0 0 " + std::to_string(sent) + " 1 0 0 0 0 0 0\n";
    };
    write("proc/net/dev",
          "Inter-|   Receive\n face |bytes\n" + line("lo", loopback, loopback) + line("eth0", in, out) + line("wlan0", 7, 9));
  }
  // In sectors; partitions and what is made of disks count the same once more.
  void write_disk(int read, int written) const {
    const std::string numbers = " 1 0 " + std::to_string(read) + " 0 1 0 " + std::to_string(written) + " 0 0 0 0\n";
    write("proc/diskstats", "8 0 sda" + numbers + "8 1 sda1" + numbers + "253 0 dm-0" + numbers);
  }

  fs::path root_;
};

TEST_F(MadeUpMachine, ASampleIsWhatHappenedBetweenTwoLooks) {
  MachineSampler sampler(root_);
  write("proc/stat", "cpu  130 10 60 840 15 2 3 5 0 0\ncpu0 1 1 1 1\ncpu1 1 1 1 1\n");
  write_network(4000, 2500, 900);
  write_disk(14, 21);
  const MachineSample sample = sampler.look();
  EXPECT_EQ(sample.cores, 2);
  EXPECT_THAT(sample.cpu_user, DoubleNear(40.0 / 105, 1e-9));
  EXPECT_THAT(sample.cpu_system, DoubleNear(15.0 / 105, 1e-9));
  EXPECT_THAT(sample.cpu_wait, DoubleNear(10.0 / 105, 1e-9));
  EXPECT_THAT(sample.cpu_idle, DoubleNear(40.0 / 105, 1e-9));
  EXPECT_EQ(sample.load, 1.5);
  EXPECT_EQ(sample.memory_bytes, 5000 * 1024);
  EXPECT_EQ(sample.memory_total_bytes, 8000 * 1024);
  EXPECT_EQ(sample.network_in_bytes, 3000);
  EXPECT_EQ(sample.network_out_bytes, 500);
  EXPECT_EQ(sample.loopback_bytes, 400);
  EXPECT_EQ(sample.disk_read_bytes, 4 * 512);
  EXPECT_EQ(sample.disk_write_bytes, 512);
  EXPECT_EQ(sampler.look().network_in_bytes, 0);
}

TEST_F(MadeUpMachine, WhatItDoesNotReportIsNotThere) {
  const MachineSample sample = MachineSampler(root_).look();
  EXPECT_FALSE(sample.temperature);
  EXPECT_FALSE(sample.frequency_mhz);
  EXPECT_FALSE(sample.energy_joules);
}

TEST_F(MadeUpMachine, SensorsAreReadWhereThereAreSome) {
  write("sys/class/thermal/thermal_zone0/temp", "41000\n");
  write("sys/class/thermal/thermal_zone1/temp", "52500\n");
  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
  write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
  write("sys/class/powercap/intel-rapl:0/energy_uj", "5000000\n");
  write("sys/class/powercap/intel-rapl:0:0/energy_uj", "4000000\n");
  MachineSampler sampler(root_);
  write("sys/class/powercap/intel-rapl:0/energy_uj", "12000000\n");
  const MachineSample sample = sampler.look();
  EXPECT_EQ(sample.temperature, 52.5);
  EXPECT_EQ(sample.frequency_mhz, 2500);
  EXPECT_EQ(sample.energy_joules, 7);
  write("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");  // the counter began anew
  EXPECT_FALSE(sampler.look().energy_joules);
}

TEST_F(MadeUpMachine, AnInterfaceThatGoesAwayIsNoNegativeTraffic) {
  MachineSampler sampler(root_);
  write_network(0, 0, 0);
  EXPECT_EQ(sampler.look().network_in_bytes, 0);
}

TEST(MachineSampler, ThisMachineHasCoresAndMemory) {
  const MachineSample sample = MachineSampler().look();
  EXPECT_GE(sample.cores, 1);
  EXPECT_GT(sample.memory_bytes, 0);
  EXPECT_GT(sample.memory_total_bytes, sample.memory_bytes);
  EXPECT_THAT(sample.cpu_user + sample.cpu_system + sample.cpu_wait + sample.cpu_idle, DoubleNear(1, 1e-6));
}

TEST(ProcessSampler, SeesWorkAndMemory) {
  ProcessSampler sampler;
  const std::string memory(64 << 20, 'x');
  double work = 0;
  for (const char c : memory) work += c;
  const ProcessSample sample = sampler.look();
  EXPECT_GT(sample.cpu_user_seconds + sample.cpu_system_seconds + (work > 0 ? 0 : 1), 0);
  EXPECT_GT(sample.memory_bytes, 64 << 20);
}

}  // namespace
}  // namespace trireme::observe
