// SPDX-License-Identifier: Apache-2.0
// The instruction set that oneDNN uses on this CPU, and our own kernels with it.
#pragma once

#include <string>

namespace trireme::engine {

struct InstructionSet {
  std::string cpu;      // "Intel(R) Xeon(R) Processor @ 2.60GHz"
  std::string name;     // as oneDNN takes it in ONEDNN_MAX_CPU_ISA, e.g. AVX512_CORE_VNNI
  std::string kernels;  // those of our own: avx512, avx2 or generic
};

InstructionSet instruction_set();

}  // namespace trireme::engine
