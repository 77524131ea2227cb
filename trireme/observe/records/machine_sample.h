// SPDX-License-Identifier: Apache-2.0
// What a machine did in a window, described.
#pragma once

#include <cstdint>
#include <optional>

#include "trireme/observe/records/field.h"

namespace trireme::observe {

// What the machine does not report is not there.
struct MachineSample {
  std::int64_t cores = 0;
  double cpu_user = 0;  // shares of all cores, which add up to 1
  double cpu_system = 0;
  double cpu_wait = 0;
  double cpu_idle = 1;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_total_bytes = 0;
  std::int64_t network_in_bytes = 0;
  std::int64_t network_out_bytes = 0;
  std::int64_t loopback_bytes = 0;
  std::int64_t disk_read_bytes = 0;
  std::int64_t disk_write_bytes = 0;
  double load = 0;
  std::optional<double> temperature;
  std::optional<double> frequency_mhz;
  std::optional<double> energy_joules;
};

template <Described<MachineSample> R, class Visit>
void describe(R& r, Visit&& visit) {
  constexpr std::string_view kShare = "share, 0 to 1";
  const auto bytes = [&](std::string_view name, std::string_view series, std::string_view meaning, auto& value) {
    visit(Field{.name = name, .unit = "bytes", .meaning = meaning, .combine = Combine::sum, .series = series, .is_rate = true}, value);
  };
  visit(Field{.name = "cores"}, r.cores);
  visit(Field{.name = "cpu_user", .unit = kShare, .meaning = "of all cores", .combine = Combine::mean, .series = "cpu_user"}, r.cpu_user);
  visit(Field{.name = "cpu_system", .unit = kShare, .meaning = "of all cores", .combine = Combine::mean, .series = "cpu_system"},
        r.cpu_system);
  visit(Field{.name = "cpu_wait",
              .unit = kShare,
              .meaning = "of all cores: for disks, or stolen by other guests of the same hardware",
              .combine = Combine::mean,
              .series = "cpu_wait"},
        r.cpu_wait);
  visit(Field{.name = "cpu_idle", .unit = kShare, .meaning = "of all cores"}, r.cpu_idle);
  visit(Field{.name = "memory_bytes", .unit = "bytes", .meaning = "used: total - available", .combine = Combine::sum, .series = "memory"},
        r.memory_bytes);
  visit(Field{.name = "memory_total_bytes", .unit = "bytes", .meaning = "of the machine"}, r.memory_total_bytes);
  bytes("network_in_bytes", "network_in", "in the window, all interfaces but loopback", r.network_in_bytes);
  bytes("network_out_bytes", "network_out", "in the window, all interfaces but loopback", r.network_out_bytes);
  bytes("loopback_bytes", "loopback", "in the window, counted once", r.loopback_bytes);
  bytes("disk_read_bytes", "disk_read", "in the window, of physical disks", r.disk_read_bytes);
  bytes("disk_write_bytes", "disk_write", "in the window, of physical disks", r.disk_write_bytes);
  visit(Field{.name = "load",
              .unit = "threads",
              .meaning = "that ran or could have, mean over a minute",
              .combine = Combine::sum,
              .series = "load"},
        r.load);
  // Only where the machine reports them.
  visit(Field{.name = "temperature",
              .unit = "degrees C",
              .meaning = "of the hottest sensor; absent where the machine does not report it",
              .combine = Combine::max,
              .series = "temperature"},
        r.temperature);
  visit(Field{.name = "frequency_mhz",
              .unit = "MHz",
              .meaning = "mean over cores; absent where the machine does not report it",
              .combine = Combine::mean,
              .series = "frequency"},
        r.frequency_mhz);
  visit(Field{.name = "energy_joules",
              .unit = "J",
              .meaning = "of the processor packages in the window; absent where the machine does not report it",
              .combine = Combine::sum,
              .series = "power",
              .is_rate = true},
        r.energy_joules);
}

}  // namespace trireme::observe
