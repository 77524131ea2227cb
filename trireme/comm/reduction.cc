// SPDX-License-Identifier: Apache-2.0
// Which sums this CPU can run.
#include "trireme/comm/reduction.h"

namespace trireme::comm {
namespace {

Reductions chosen() {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512cd"))
    return avx512::reductions();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return avx2::reductions();
  return generic::reductions();
}

}  // namespace

const Reductions& reductions() {
  static const Reductions kFound = chosen();
  return kFound;
}

}  // namespace trireme::comm
