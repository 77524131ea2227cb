// SPDX-License-Identifier: Apache-2.0
// How long threads spin before they sleep, so that a training doesn't collapse when others use the machine too.
#pragma once

namespace trireme::cli {

// libgomp's default of spinning for many milliseconds is right only on a machine of one's own: with other processes on the cores a
// waiting thread takes the time its partner needs. It reads the setting before main(), so this starts the program once more with a
// better one, unless OMP_WAIT_POLICY or GOMP_SPINCOUNT says what the user wants.
void choose_wait_policy(char** argv);

}  // namespace trireme::cli
