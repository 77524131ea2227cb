// SPDX-License-Identifier: Apache-2.0
// Machines have no code yet.
#include "trireme/cluster/machine.h"
