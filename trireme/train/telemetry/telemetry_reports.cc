// SPDX-License-Identifier: Apache-2.0
// A node's measurements as a message, and back.
#include "trireme/train/messages/message_parsing.h"
#include "trireme/train/telemetry/telemetry.h"
#include "trireme/wire/telemetry.pb.h"

namespace trireme::train {
namespace {

void write(const observe::MachineSample& sample, wire::MachineReport& out) {
  out.set_cores(sample.cores);
  out.set_cpu_user(sample.cpu_user);
  out.set_cpu_system(sample.cpu_system);
  out.set_cpu_wait(sample.cpu_wait);
  out.set_cpu_idle(sample.cpu_idle);
  out.set_load(sample.load);
  out.set_memory_bytes(sample.memory_bytes);
  out.set_memory_total_bytes(sample.memory_total_bytes);
  out.set_network_in_bytes(sample.network_in_bytes);
  out.set_network_out_bytes(sample.network_out_bytes);
  out.set_loopback_bytes(sample.loopback_bytes);
  out.set_disk_read_bytes(sample.disk_read_bytes);
  out.set_disk_write_bytes(sample.disk_write_bytes);
  if (sample.temperature) out.set_temperature(*sample.temperature);
  if (sample.frequency_mhz) out.set_frequency_mhz(*sample.frequency_mhz);
  if (sample.energy_joules) out.set_energy_joules(*sample.energy_joules);
}

observe::MachineSample read(const wire::MachineReport& in) {
  observe::MachineSample sample{.cores = in.cores(),
                                .cpu_user = in.cpu_user(),
                                .cpu_system = in.cpu_system(),
                                .cpu_wait = in.cpu_wait(),
                                .cpu_idle = in.cpu_idle(),
                                .load = in.load(),
                                .memory_bytes = in.memory_bytes(),
                                .memory_total_bytes = in.memory_total_bytes(),
                                .network_in_bytes = in.network_in_bytes(),
                                .network_out_bytes = in.network_out_bytes(),
                                .loopback_bytes = in.loopback_bytes(),
                                .disk_read_bytes = in.disk_read_bytes(),
                                .disk_write_bytes = in.disk_write_bytes()};
  if (in.has_temperature()) sample.temperature = in.temperature();
  if (in.has_frequency_mhz()) sample.frequency_mhz = in.frequency_mhz();
  if (in.has_energy_joules()) sample.energy_joules = in.energy_joules();
  return sample;
}

void write(const observe::StepAnatomy& step, wire::AnatomyReport& out) {
  out.set_step(step.step);
  out.set_epoch(step.epoch);
  out.set_start(step.start);
  out.set_seconds(static_cast<float>(step.seconds));
  out.set_samples(step.samples);
  out.set_input_wait(static_cast<float>(step.input_wait));
  out.set_forward(static_cast<float>(step.forward));
  out.set_backward(static_cast<float>(step.backward));
  out.set_exchange_exposed(static_cast<float>(step.exchange_exposed));
  out.set_optimizer(static_cast<float>(step.optimizer));
  out.set_idle(static_cast<float>(step.idle));
  out.set_read(static_cast<float>(step.read));
  out.set_decode(static_cast<float>(step.decode));
  out.set_exchange(static_cast<float>(step.exchange));
  out.set_bytes_sent(step.bytes_sent);
  out.set_bytes_received(step.bytes_received);
  out.set_staleness(step.staleness);
}

observe::StepAnatomy read(const wire::AnatomyReport& in) {
  return {.step = in.step(),
          .epoch = in.epoch(),
          .start = in.start(),
          .seconds = in.seconds(),
          .samples = in.samples(),
          .input_wait = in.input_wait(),
          .forward = in.forward(),
          .backward = in.backward(),
          .exchange_exposed = in.exchange_exposed(),
          .optimizer = in.optimizer(),
          .idle = in.idle(),
          .read = in.read(),
          .decode = in.decode(),
          .exchange = in.exchange(),
          .bytes_sent = in.bytes_sent(),
          .bytes_received = in.bytes_received(),
          .staleness = in.staleness()};
}

}  // namespace

std::string pack(const TelemetryReport& report) {
  wire::TelemetryReport out;
  out.set_time(report.time);
  out.set_seconds(report.seconds);
  out.set_baseline(report.is_baseline);
  write(report.machine, *out.mutable_machine());
  out.set_cpu_user_seconds(report.process.cpu_user_seconds);
  out.set_cpu_system_seconds(report.process.cpu_system_seconds);
  out.set_memory_bytes(report.process.memory_bytes);
  out.set_rank(report.duty.rank);
  out.set_duty(report.duty.what);
  out.set_generation(report.duty.generation);
  out.set_share(report.duty.share);
  out.set_bytes_sent(report.traffic.sent);
  out.set_bytes_received(report.traffic.received);
  for (const observe::StepAnatomy& step : report.steps) write(step, *out.add_steps());
  return out.SerializeAsString();
}

TelemetryReport unpack_telemetry(const std::string& bytes) {
  const auto in = parse_message<wire::TelemetryReport>(bytes);
  TelemetryReport report{.time = in.time(),
                         .seconds = in.seconds(),
                         .is_baseline = in.baseline(),
                         .machine = read(in.machine()),
                         .process = {.cpu_user_seconds = in.cpu_user_seconds(),
                                     .cpu_system_seconds = in.cpu_system_seconds(),
                                     .memory_bytes = in.memory_bytes()},
                         .duty = {.rank = in.rank(), .what = in.duty(), .generation = in.generation(), .share = in.share()},
                         .traffic = {.sent = in.bytes_sent(), .received = in.bytes_received()}};
  for (const wire::AnatomyReport& step : in.steps()) report.steps.push_back(read(step));
  return report;
}

}  // namespace trireme::train
