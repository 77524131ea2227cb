// SPDX-License-Identifier: Apache-2.0
// A run document as a JSON value, for those who put it into another one.
#pragma once

#include "trireme/base/json.h"
#include "trireme/report/document/run_document.h"

namespace trireme::report {

Json json_of(const RunDocument& document);

}  // namespace trireme::report
