// SPDX-License-Identifier: Apache-2.0
// Times oneDNN's matrix product as the machine's reachable limit.
#include "trireme/engine/kernels/gemm_rate.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "trireme/base/parallel.h"
#include "trireme/engine/kernels/cpu.h"

namespace trireme::engine {

double best_gemm_gflops(int threads) {
  cap_instruction_set();
  const ThreadScope scope(threads);
  double best = 0;
  for (const dnnl_dim_t n : {512, 1024, 2048}) {
    const std::vector<float> a(static_cast<std::size_t>(n * n), 1.0F);
    std::vector<float> c(a.size());
    for (int repeat = 0; repeat < 12; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      dnnl_sgemm('N', 'N', n, n, n, 1.0F, a.data(), n, a.data(), n, 0.0F, c.data(), n);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      best = std::max(best, 2e-9 * static_cast<double>(n * n * n) / seconds);
    }
  }
  return best;
}

}  // namespace trireme::engine
