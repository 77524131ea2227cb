// SPDX-License-Identifier: Apache-2.0
// A node's measurements as a message, and back.
#include "trireme/observe/record_wire.h"
#include "trireme/train/messages/message_parsing.h"
#include "trireme/train/telemetry/telemetry.h"
#include "trireme/wire/telemetry.pb.h"

namespace trireme::train {

std::string pack(const TelemetryReport& report) {
  wire::TelemetryReport out;
  observe::write_record(*out.mutable_node(), report);
  observe::write_record(*out.mutable_machine(), report.machine);
  observe::write_records(*out.mutable_steps(), report.steps);
  return out.SerializeAsString();
}

TelemetryReport unpack_telemetry(const std::string& bytes) {
  const auto in = parse_message<wire::TelemetryReport>(bytes);
  auto report = observe::read_record<TelemetryReport>(in.node());
  report.machine = observe::read_record<observe::MachineSample>(in.machine());
  report.steps = observe::read_records<observe::StepAnatomy>(in.steps());
  return report;
}

}  // namespace trireme::train
