// SPDX-License-Identifier: Apache-2.0
// The machine's limit, as far as a good library reaches it.
#pragma once

namespace trireme::engine {

// Best rate of oneDNN's sgemm over a few sizes, in GFLOP/s.
double best_gemm_gflops(int threads);

}  // namespace trireme::engine
