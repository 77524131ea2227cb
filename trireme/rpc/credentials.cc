// SPDX-License-Identifier: Apache-2.0
// Credentials have no code yet.
#include "trireme/rpc/credentials.h"
