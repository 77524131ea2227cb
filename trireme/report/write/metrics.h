// SPDX-License-Identifier: Apache-2.0
// A run as Prometheus reads it: text format 0.0.4, base units, docs/metrics.md.
#pragma once

#include <string>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

std::string to_metrics(const RunDocument& document);

}  // namespace trireme::report
