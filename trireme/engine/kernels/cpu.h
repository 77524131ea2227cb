// SPDX-License-Identifier: Apache-2.0
// What this CPU really can do, and how many of its cores are ours.
#pragma once

#include <string>

namespace trireme::engine {

// Keeps oneDNN away from AMX where the CPU advertises it without its tile description (hypervisors hide CPUID leaf 0x1D):
// its kernels would die with SIGILL. Has an effect only before the first primitive of the process.
void cap_instruction_set();

// "Intel(R) Xeon(R) ... avx512_core": what timed choices depend on.
std::string cpu_name();

// Physical cores in this process' affinity mask.
int usable_cores();

// Which of our own kernels run here; follows what oneDNN uses, so that ONEDNN_MAX_CPU_ISA tests both at once.
enum class KernelSet { avx512, avx2, generic };
KernelSet kernel_set();

// Channels in a block of the layout that oneDNN's convolutions want here: 16 with AVX-512, else 8.
int channel_block();

}  // namespace trireme::engine
