// SPDX-License-Identifier: Apache-2.0
// kopt's own kernels, which run before a candidate's or look after it. They are PTX, which the
// driver compiles, so they need no toolkit; the target is the oldest that current drivers compile
// for, so every later one runs them too.
#pragma once

#include <cstdint>
#include <string>

namespace kopt::runtime::cuda {

struct OwnKernel {
  const char *name;
  const char *file; ///< in own/, with words in capital letters for what textOf() puts in
  const char *target = ".version 6.0\n.target sm_50\n";
};

/// The kernel's PTX. `bytes`: the size that kFillLocal is for.
std::string textOf(const OwnKernel &kernel, std::uint32_t bytes = 0);

/// Reads `words` words of four bytes from `base` on.
extern const OwnKernel kReadMemory;
/// Discards `lines` lines of 128 bytes from L2.
extern const OwnKernel kDiscardMemory;
/// Writes unpredictable bits to `words` words of the block's dynamic shared memory.
extern const OwnKernel kFillShared;
/// Writes unpredictable bits to each word of local memory. `never` is 0: what is read for other
/// numbers keeps the compiler from leaving out the stores.
extern const OwnKernel kFillLocal;
/// Returns after so many cycles of the multiprocessor's clock. Touches no memory.
extern const OwnKernel kWait;
/// The known-good kernel that distinguishes a candidate's failure from the device's: out[i] = i *
/// 2654435761 ^ in[i] for every i below `words`.
extern const OwnKernel kProbe;
/// Those of MemoryKernels.h.
extern const OwnKernel kWritePattern, kFindPattern, kDigest;

} // namespace kopt::runtime::cuda
