// SPDX-License-Identifier: Apache-2.0
// JSON lines, appended.
#include "trireme/observe/journal.h"
