// SPDX-License-Identifier: Apache-2.0
// The scores of classes, or of numbers, in a report.
#pragma once

#include <string>

#include "trireme/report/document/run_document.h"

namespace trireme::report {

std::string learned_markdown(const RunDocument& document);  // empty: nothing is known

}  // namespace trireme::report
